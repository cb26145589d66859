# The interface of the gem `parallel` over pools of VMs
require "zakuro/parallel_gem"

def tried
  yield
rescue Exception => e
  [e.class, e.message]
end

%i[in_vms in_processes in_threads].each do |kind|
  2.downto(0) do |n|
    next if n == 1
    p Parallel.map(1..5, kind => n) { |x| x * 2 }
    p Parallel.each([3, 1], kind => n) { |x| x }
    p Parallel.map_with_index(%w[a b], kind => n) { |x, i| x * (i + 1) }
    p Parallel.flat_map([1, 2], kind => n) { |x| [x, [x]] }, Parallel.filter_map([1, 2, 3], kind => n) { |x| x if x.odd? }
    p Parallel.any?([1, 2], kind => n, &:even?), Parallel.all?([1, 2], kind => n, &:even?)
    p Parallel.map([], kind => n) { 1 }
    p tried { Parallel.map([1, 2, 3], kind => n) { |x| raise ArgumentError, "two" if x == 2 } }
    p tried { Parallel.map([1, 2, 3], kind => n) { |x| raise Parallel::Break.new(:found) if x == 2 } }
    seen = []
    Parallel.map([1, 2], kind => n, start: ->(x, i) { seen << [:start, x, i] }, finish: ->(x, i, r) { seen << [:finish, x, i, r] }) { |x| -x }
    p seen.sort_by(&:inspect)
    list = [1, 2, 3]
    p Parallel.map(-> { list.shift || Parallel::Stop }, kind => n) { |x| x + 1 }
  end
end
p Parallel.map([1, 2, 3, 4], in_vms: 2) { Parallel.worker_number }.all? { |n| [0, 1].include?(n) }, Parallel.worker_number
p Parallel.processor_count > 0, Parallel.physical_processor_count > 0
p tried { Parallel.map([1]) }, tried { Parallel.map([1], in_vms: -1) { 1 } }
