# Spawn and join of VMs: from the boot image, from an image, by fork; with an empty program and with one of 300 classes. Best of five rounds, microseconds;
# resident memory per idle VM. Run: zakuro bench/vm/spawn.rb [CLASSES]
def rate(label, count = 200)
  count.times { yield }
  best = 5.times.map do
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    count.times { yield }
    (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) / count * 1e6
  end.min
  puts format("%-50s %8.1f us", label, best)
end

def resident = File.read("/proc/self/statm").split[1].to_i * 4096

def memory(label, count = 500)
  gate = RubyVM::Channel.new
  ready = RubyVM::Channel.new
  before = resident
  vms = count.times.map { yield gate, ready }
  count.times { ready.recv }
  puts format("%-50s %8.1f KB", label, (resident - before) / 1024.0 / count)
  count.times { gate << 1 }
  vms.each(&:join)
end

def measure(what)
  image = RubyVM::Image.capture
  rate("image.spawn, join: #{what}") { image.spawn { 1 }.join }
  rate("RubyVM.fork, join, nothing changed: #{what}") { RubyVM.fork { 1 }.join }
  rate("RubyVM.fork, join, a global changed: #{what}", 20) { $changed = Object.new; RubyVM.fork { 1 }.join }
  memory("resident per waiting VM: #{what}") { |gate, ready| image.spawn(gate, ready) { |g, r| r << 1; g.recv } }
end

rate("RubyVM.new, start, join") { RubyVM.new("empty", "-e", "").start.join }
measure("empty program")
(ARGV[0] || 300).to_i.times do |i|
  eval <<~RUBY
    class K#{i}
      LIST = [#{i}, "x"]
      NAME = "k#{i}".freeze
      @count = #{i}
      class << self; attr_reader :count; end
      def initialize(a) = @a#{i} = a
      def get = @a#{i}
      def next = get + 1
      def twice(x) = x * 2
      def with = yield(@a#{i})
    end
  RUBY
end
measure("300 classes")
