# What it takes to start something that runs beside the program and to wait for its end: a VM from the boot image, from an image, by fork, with
# an empty program and with CLASSES classes loaded; in other Rubies a thread, a process and (where there is one) a Ractor.
# spawn.rb [CLASSES] prints lines `name value unit`: microseconds for start and join (best of five rounds), resident kilobytes per waiting VM.

def rate(label, count = 200)
  count.times { yield }
  best = 5.times.map do
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    count.times { yield }
    (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) / count * 1e6
  end.min
  puts format("%s %.2f us", label, best)
end

def resident = File.read("/proc/self/statm").split[1].to_i * 4096

def memory(label, count = 500)
  gate = RubyVM::Channel.new
  ready = RubyVM::Channel.new
  before = resident
  vms = count.times.map { yield gate, ready }
  count.times { ready.recv }
  puts format("%s %.1f KB", label, (resident - before) / 1024.0 / count)
  count.times { gate << 1 }
  vms.each(&:join)
end

def measure_vms(what)
  image = RubyVM::Image.capture
  rate("vm_spawn_from_image_#{what}") { image.spawn { 1 }.join }
  rate("vm_spawn_#{what}") { RubyVM.fork { 1 }.join }
  rate("vm_spawn_after_a_change_#{what}", 20) { $changed = Object.new; RubyVM.fork { 1 }.join }
  # Only once in a process: what the first VMs leave to be used again would be counted as free.
  return if what == "empty"
  memory("vm_waiting_resident_#{what}") { |gate, ready| image.spawn(gate, ready) { |g, r| r << 1; g.recv } }
end

def measure_others(what)
  rate("thread_spawn_#{what}") { Thread.new { 1 }.join }
  rate("process_spawn_#{what}", 50) { Process.wait(fork { exit!(0) }) }
  return unless defined?(Ractor)
  Warning[:experimental] = false
  rate("ractor_spawn_#{what}", 100) { r = Ractor.new { 1 }; r.respond_to?(:value) ? r.value : r.take }
end

def measure(what) = defined?(RubyVM::Channel) ? measure_vms(what) : measure_others(what)

if defined?(RubyVM::Channel)
  rate("vm_spawn_from_boot_image") { RubyVM.new("empty", "-e", "").start.join }
end
measure("empty")
classes = (ARGV[0] || 300).to_i
classes.times do |i|
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
measure("#{classes}_classes")
