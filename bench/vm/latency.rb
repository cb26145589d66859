# How much one side's work disturbs a loop on the other: A stamps the clock for a while and keeps the gaps between two stamps, B is idle, or
# defines methods, requires files and collects garbage all the time. Under zakuro A and B are VMs, and then B is a process of its own, which shows what
# the machine itself does to A; under the reference they are threads.
# latency.rb [SECONDS] prints a table of percentiles in microseconds, and lines `name value unit`.
#
# B needs a core of its own: on a machine with one, or with others at work, the gaps are those of the time slices.

SECONDS = (ARGV[0] || 2).to_f
require "tmpdir"

BUSY = <<'RUBY'
def busy(stop, dir)
  n = 0
  until stop.call
    n += 1
    20.times { |i| Object.class_eval("def latency_#{i}(x) = x + #{n}") }
    file = File.join(dir, "file_#{n % 50}.rb")
    File.write(file, "module Latency#{n % 50}; A = #{n}; def self.a = A; end") unless File.exist?(file)
    $LOADED_FEATURES.delete(file)
    Object.send(:remove_const, :"Latency#{n % 50}") if n > 50
    require file
    $kept = Array.new(2000) { |i| ["x" * (i % 50), i] }
    GC.start if n % 5 == 0
  end
  n
end
RUBY

STAMP = <<'RUBY'
# Gaps between two looks at the clock, sorted, in nanoseconds; counted in a table of fixed size, so that the loop makes no garbage.
def stamp(seconds)
  limits = [100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 1 << 60]
  counts = Array.new(limits.size, 0)
  worst = 0
  last = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  finish = last + (seconds * 1e9).to_i
  while last < finish
    at = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    gap = at - last
    last = at
    worst = gap if gap > worst
    i = 0
    i += 1 while gap > limits[i]
    counts[i] += 1
  end
  [limits, counts, worst]
end
RUBY

def show(name, limits, counts, worst)
  total = counts.sum
  at = lambda do |share|
    seen = 0
    i = counts.index { |count| (seen += count) >= total * share }
    [limits[i], worst].min
  end
  values = [0.5, 0.99, 0.999, 0.9999, 0.99999].map { |share| at.(share) / 1000.0 }
  puts format("%-28s %9d %8.1f %8.1f %8.1f %8.1f %8.1f %9.1f", name, total, *values, worst / 1000.0)
  puts "#{name}_worst #{worst / 1000.0} us"
  lost = limits.each_with_index.sum { |limit, i| limit > 100_000 ? counts[i] : 0 }
  puts "#{name}_gaps_over_100_us #{lost} x"
end

puts format("%-28s %9s %8s %8s %8s %8s %8s %9s", "gaps in us up to", "stamps", "50%", "99%", "99.9%", "99.99%", "99.999%", "worst")
Dir.mktmpdir do |dir|
  if defined?(RubyVM::Channel)
    [false, true].each do |work|
      out, over = RubyVM::Channel.new, RubyVM::Channel.new
      a = RubyVM.new("a", "-e", STAMP + "\nout, seconds = RubyVM::ARGV; out << stamp(seconds)").start(out, SECONDS)
      b = RubyVM.new("b", "-e", BUSY + "\nover, dir = RubyVM::ARGV; busy(-> { over.try_recv }, dir)").start(over, dir) if work
      result = out.recv
      over << true
      [a, b].compact.each(&:join)
      show("vm_b_#{work ? "busy" : "idle"}", *result)
    end
    out = RubyVM::Channel.new
    alone = BUSY + "\nover = false; Thread.new { $stdin.read; over = true }; busy(-> { over }, ARGV[0])"
    IO.popen([RbConfig.ruby, "-e", alone, dir], "w") do |b|
      RubyVM.new("a", "-e", STAMP + "\nout, seconds = RubyVM::ARGV; out << stamp(seconds)").start(out, SECONDS).join
      b.close_write
    end
    show("process_b_busy", *out.recv)
  else
    eval(BUSY)
    eval(STAMP)
    [false, true].each do |work|
      stop = false
      b = Thread.new { busy(-> { stop }, dir) } if work
      result = stamp(SECONDS)
      stop = true
      b&.join
      show("thread_b_#{work ? "busy" : "idle"}", *result)
    end
  end
end
