# Chaos in a pool: of all jobs 5% end their VM, hang, raise, pass a limit or send what can't be sent, in chunks, as Futures and as a stream; each has exactly one result or one error, the right one;
# jobs that had nothing to do with it have their results. At the end no VM is left, descriptors are what they were, and memory is flat.
#
#   zakuro tests/chaos/pool.rb [JOBS [SEED]]      (10,000 unless given; status 1 when something did not hold)
jobs = Integer(ARGV[0] || 10_000)
seed = Integer(ARGV[1] || 1)
random = Random.new(seed)
puts "#{jobs} jobs, seed #{seed}"

BAD = {
  raises: ->(n) { raise ArgumentError, "job #{n}" },
  exits: ->(_) { exit(3) },
  ends: ->(_) { exit!(4) },
  sleeps: ->(_) { sleep },
  spins: ->(_) { loop {} },
  holds_on: ->(_) { begin; sleep; ensure; loop {}; end },
  eats: ->(_) { a = []; loop { a << "x" * 100_000 } },
  eats_at_once: ->(_) { "x" * 500_000_000 },
  recurses: ->(n) { BAD[:recurses].call(n) },
  unsendable: ->(_) { Mutex.new },
  killed: ->(_) { RubyVM.current.kill(grace: 0); sleep },
  throws: ->(_) { throw :nobody },
}.freeze

# What a job must end with. (On busy cores memory may be eaten slowly.)
ENDS = {
  raises: :exception, exits: :end, ends: :end, sleeps: :timeout, spins: :timeout, holds_on: :timeout, eats: %i[end timeout], eats_at_once: :end, recurses: :exception, unsendable: :exception,
  killed: :end, throws: :exception
}.freeze

def job(n, kind)
  return BAD.fetch(kind).call(n) if kind
  case n % 4
  when 0 then n * 2
  when 1 then "#{n}" * 3
  when 2 then (1..n % 500).sum
  else [n, { n => "x" * (n % 300) }]
  end
end

def look
  GC.start
  sleep 0.3
  [Dir.children("/proc/self/fd").size, File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i, RubyVM.list.size]
end

list = Array.new(jobs) { |n| [n, random.rand < 0.05 ? BAD.keys.sample(random: random) : nil] }
wrong = []
check = lambda do |way, results|
  wrong << [way, :number, results.size] unless results.size == list.size
  list.zip(results) do |(n, kind), got|
    fine = kind ? RubyVM::Pool::JobError === got && [*ENDS[kind]].include?(got.kind) : got == job(n, nil)
    wrong << [way, n, kind, got] unless fine
  end
end
# A part of each, so that they are of the same size.
parts = list
RubyVM::Pool.open(size: 1) { |pool| pool.map([1]) { |n| n } }
before = look

pool = RubyVM::Pool.new(size: 4, memory_limit: 40_000_000, grace: 0.05, job_timeout: 0.5)
half = []
begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
list = parts.each_slice((parts.size + 2) / 3).to_a[0]
check.call(:map, pool.map(list, errors: :return) { |n, kind| job(n, kind) })
half << look
list = parts.each_slice((parts.size + 2) / 3).to_a[1] || []
check.call(:stream, pool.stream(list.each, errors: :return) { |n, kind| job(n, kind) }.to_a)
half << look
list = parts.each_slice((parts.size + 2) / 3).to_a[2] || []
check.call(:submit, list.map { |n, kind| pool.submit(n, kind) { |i, k| job(i, k) } }.map { |future| future.wait.error || future.value })
half << look
report = pool.report
pool.close
took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
after = look

bad = parts.count { |_, kind| kind }
puts "#{bad} of them bad; #{wrong.size} wrong"
wrong.first(10).each { |w| p w }
wrong << :jobs unless report.jobs == jobs && report.errors == bad
wrong << :descriptors unless after[0] == before[0]
wrong << :vms unless after[2] == before[2]
# Thousands of VMs have come and gone between the first look and the last one.
wrong << :memory if half[-1][1] > half[0][1] + 20_000 && jobs >= 3000
warn format("%.1f s; descriptors, resident KB, VMs: before %p, in between %p, after %p", took, before, half, after)
warn report
puts wrong.empty? ? "each job has one result or one error" : "NOT FINE: #{wrong.grep(Symbol)}"
exit(wrong.empty?)
