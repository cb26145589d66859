# What coverage keeps counts in a VM's memory, and no number that a program gives makes it fall over.
require "coverage"
refused = lambda do |&work|
  work.call
  :fine
rescue NoMemoryError => e
  e.message
end
p refused.call { Coverage.send(:__watch, "x", [-2**63, 0, 2**63 - 1], 1 << 60) }
p refused.call { Coverage.send(:__watch, "y", [-2**63, 0, 1, 3, 2**63 - 1], 2) }
p refused.call { Coverage.send(:__watch, "z", [1], -1) }
p Coverage.send(:__counters).slice("y", "z")
Coverage.send(:__clear, true)
RubyVM.new("watches", "-e", <<~'RUBY', memory_limit: 32 << 20).start.join
  require "coverage"
  n = 0
  begin
    loop { Coverage.send(:__watch, "file #{n += 1}", [], 100_000) }
  rescue NoMemoryError
    p n < 40
  end
  Coverage.send(:__clear, true)
  10.times { |i| Coverage.send(:__watch, "file #{i}", [], 100_000) }
  Coverage.send(:__clear, true)
  puts "room again"
RUBY

# Places of methods, asked for in any order; files that come one after another.
require "tempfile"
files = 3.times.map do |n|
  Tempfile.new(["counted", ".rb"]).tap { |f| f.write("class C#{n}\n  def z = 1\n\n  def a\n    2\n  end; def m = 3\nend\nC#{n}.new.a\n"); f.close }
end
Coverage.start(lines: true, methods: true)
files.each { |f| load f.path }
3.times { C1.new.m }
Coverage.result.slice(*files.map(&:path)).each_value do |r|
  p r[:lines], r[:methods].map { |(_, name, *place), calls| [name, place, calls] }.sort
end
