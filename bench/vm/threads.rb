# Threads by the ten thousand inside one VM: made, waiting in one line, woken and joined. Wall time for each thread in microseconds; the resident memory that
# each takes while all wait, in KB. Under zakuro also a hundred thousand, which should cost no more each.
#   threads.rb [NUMBER]

COUNTS = ARGV[0] ? [ARGV[0].to_i] : defined?(RubyVM::Channel) ? [10_000, 100_000] : [10_000]

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
def resident = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i

def measure(name, count)
  start = now
  threads, wake = yield count
  here = resident
  wake.call
  threads.each(&:join)
  puts "threads_#{count}_#{name} #{((now - start) / count * 1e6).round(2)} us"
  here
end

COUNTS.each do |count|
  before = resident
  queue = Queue.new
  peak = measure("queue", count) { |n| [Array.new(n) { Thread.new { queue.pop } }.each { |t| Thread.pass until t.stop? }, -> { n.times { queue << 1 } }] }
  puts "threads_#{count}_resident #{((peak - before) / count.to_f).round(2)} KB"

  lock = Mutex.new
  held = 0
  measure("mutex", count) { |n| lock.lock; [Array.new(n) { Thread.new { lock.synchronize { held += 1 } } }, -> { lock.unlock }] }
  raise "lost: #{held}" unless held == count

  signal, go, ready = ConditionVariable.new, false, 0
  waiting = -> { lock.synchronize { ready += 1; signal.wait(lock) until go } }
  measure("broadcast", count) { |n| [Array.new(n) { Thread.new(&waiting) }, -> { Thread.pass until lock.synchronize { ready == n }; lock.synchronize { go = true; signal.broadcast } }] }

  measure("sleep", count) { |n| [Array.new(n) { |i| Thread.new { sleep 0.0001 * (i % 100) } }, -> {}] }
  measure("kill", count) { |n| threads = Array.new(n) { Thread.new { sleep } }; [threads, -> { Thread.pass; threads.each(&:kill) }] }
end
