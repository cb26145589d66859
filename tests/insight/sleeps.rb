# Without --gc=stress.
# Where VMs and threads mostly sleep, or wait for those who do, the report says so, and for what.
EXE = File.readlink("/proc/self/exe")

def sentence(program)
  r, w = IO.pipe
  pid = spawn({ "RUBY_MAX_CPU" => "2" }, EXE, "--report", "-e", program, out: w, err: w)
  w.close
  said = r.read
  Process.wait(pid)
  said[/^bottleneck .*/].to_s.gsub(/\d+%/, "N%").gsub(/-e:\d+/, "-e:N").gsub(/channel \d+/, "channel N")
end

{
  "a VM" => "RubyVM.fork { sleep 0.4 }.join",
  "threads" => "4.times.map { Thread.new { sleep 0.3 } }.each(&:join)",
  "two threads and their queues" => <<~RUBY,
    a, b = Queue.new, Queue.new
    one = Thread.new { 10.times { a.pop; sleep 0.02; b << 1 } }
    two = Thread.new { 10.times { a << 1; b.pop; sleep 0.02 } }
    [one, two].each(&:join)
  RUBY
  "who feeds a queue sleeps" => <<~RUBY,
    q = Queue.new
    all = 9.times.map { Thread.new { while q.pop; end } }
    10.times { q << 1; sleep 0.03 }
    q.close
    all.each(&:join)
  RUBY
  "VMs in turns" => <<~RUBY,
    a, b = RubyVM::Channel.new(name: "a"), RubyVM::Channel.new
    one = RubyVM.fork(a, b) { |a, b| 10.times { a.recv; sleep 0.03; b << 1 } }
    two = RubyVM.fork(a, b) { |a, b| 10.times { a << 1; b.recv; sleep 0.01 } }
    [one, two].each(&:join)
  RUBY
  "a condition variable" => <<~RUBY,
    lock, changed, done = Mutex.new, ConditionVariable.new, false
    all = 9.times.map { Thread.new { lock.synchronize { changed.wait(lock) until done } } }
    sleep 0.3
    lock.synchronize { done = true; changed.broadcast }
    all.each(&:join)
  RUBY
  "a pipe that nobody writes to" => "r, w = IO.pipe\nall = 4.times.map { Thread.new { r.read(1) } }\nsleep 0.3\nw << \"four\"\nall.each(&:join)",
  "a process" => "Process.wait(spawn(\"sleep 0.3\"))",
  "pairs of threads in VMs" => <<~RUBY
    vms = 3.times.map do
      RubyVM.fork do
        q = Queue.new
        all = [Thread.new { 10.times { q << 1; sleep 0.02 }; q.close }, Thread.new { while q.pop; end }]
        all.each(&:join)
        nil
      end
    end
    vms.each(&:join)
  RUBY
}.each { |name, program| puts "#{name}: #{sentence(program)}" }
