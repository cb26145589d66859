# Array and Hash have methods of Enumerable for themselves; backtraces show what would be without: the method of Enumerable, which calls the block by `each`.
def labels
  yield
rescue => e
  puts e.backtrace.map { |line| line[/in '(.*)'/, 1] }.join(" < ")
end

labels { [1].each_with_index { raise "x" } }
labels { [1].each_slice(2) { raise "x" } }
labels { [1, 2].inject { raise "x" } }
labels { [1].each_with_object([]) { raise "x" } }
labels { [1].group_by { [2].partition { raise "x" } } }
labels { [1].flat_map { |x| x.foo } }
labels { [2, 1].sort_by { raise "x" } }
labels { {a: 1}.map { raise "x" } }
labels { {a: 1}.each_slice(0) { } }
labels { [1].each_slice(0) { } }
labels { [1].map { raise "x" } }

[1].each_with_object(2) { puts caller_locations(0, 4).map { |l| "#{l.label} #{l.base_label} #{l.lineno}" } }
begin
  [1].min_by { |x| x.foo }
rescue NoMethodError => e
  puts e.backtrace_locations.map(&:label)
end

# What CRuby defines as an alias is shown under its first name.
queue = Thread::Queue.new.close
labels { queue << 1 }
labels { queue.enq 1 }
labels { Thread::Queue.new.shift(true) }
p [].method(:append), Set[].method(:===).original_name, 1.0.method(:magnitude).original_name, Complex(1).method(:conj).original_name, [].method(:map).original_name
