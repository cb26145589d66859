# How programs use fork: a pool of workers that get their work by pipes, a process for each job, a loaded application that serves commands by copies of itself.
require "socket"

# `parallel`: workers are forked once and asked by Marshal over pipes; an exception travels back, a dead worker is noticed.
class Workers
  Worker = Struct.new(:pid, :to, :from)
  Failure = Struct.new(:error)
  Dead = Class.new(StandardError)

  def initialize(count, &work)
    @all = []
    count.times { @all << start(work) }
  end

  def start(work)
    child_in, to = IO.pipe
    from, child_out = IO.pipe
    pid = Process.fork do
      # The ends that lead to the others would keep them from seeing the end.
      @all.each { |w| w.to.close; w.from.close }
      to.close
      from.close
      until child_in.eof?
        n, item = Marshal.load(child_in)
        answer = begin
          work.call(item)
        rescue => e
          Failure.new(e)
        end
        Marshal.dump([n, answer], child_out)
      end
    rescue Errno::EPIPE
      # Nobody waits for the answer any more.
    end
    child_in.close
    child_out.close
    Worker.new(pid, to, from)
  end

  def map(items)
    queue = items.each_with_index.map { |item, n| [n, item] }
    results = []
    lock = Mutex.new
    @all.map do |worker|
      Thread.new do
        Thread.current.report_on_exception = false
        while (job = lock.synchronize { queue.shift })
          begin
            Marshal.dump(job, worker.to)
            n, answer = Marshal.load(worker.from)
          rescue EOFError, Errno::EPIPE
            raise Dead
          end
          raise answer.error if answer.is_a?(Failure)
          lock.synchronize { results[n] = answer }
        end
      end
    end.each(&:join)
    results
  ensure
    @all.each { |w| w.to.close; w.from.close; Process.wait(w.pid) }
    @all.clear
  end
end

p Workers.new(3) { |x| [x, x * x, Process.pid == $$] }.map(1..7)
begin
  Workers.new(2) { |x| x == 3 ? raise(ArgumentError, "no #{x}") : x }.map(1..4)
rescue => e
  p e.class, e.message
end
begin
  Workers.new(2) { |x| exit!(9) if x == 2; x }.map(1..3)
rescue => e
  p e.class
end

# `resque`: a child for each job, which ends by `exit!` so that the parent's at_exit blocks are not run; failures are the parent's to note.
main = Process.pid
at_exit { puts "at_exit of the #{Process.pid == main ? "parent" : "copy"}" }
log = []
[["sum", 1, 2, 3], ["fail"], ["die"], ["hang"], ["sum", 10]].each do |name, *args|
  $stdout.flush
  r, w = IO.pipe
  pid = fork do
    r.close
    trap(:TERM) { exit!(143) }
    case name
    when "sum" then w.write(args.sum.to_s)
    when "fail"
      begin
        raise "failed in the child"
      rescue => e
        w.write(e.message)
        exit!(1)
      end
    when "die" then Process.kill(:KILL, Process.pid)
    when "hang" then w.write("w"); w.flush; sleep
    end
    w.close
    exit!
  end
  w.close
  if name == "hang"
    r.readpartial(1)
    Process.kill(:TERM, pid)
  end
  said = r.read
  Process.waitpid(pid)
  log << [name, said, $?.exitstatus, $?.termsig]
end
log.each { p _1 }

# `spring`: a server with the application loaded gets a client's streams over a socket, and runs each command in a copy that has them as its own.
application = {loaded: true, requests: 0}
here, there = UNIXSocket.pair
server = fork do
  here.close
  trap(:CHLD) { nil }
  # The streams come first: what reads lines reads ahead.
  while (out = begin there.recv_io; rescue EOFError, SocketError; nil; end)
    err = there.recv_io
    line = there.gets
    application[:requests] += 1
    pid = fork do
      $stdout.reopen(out)
      $stderr.reopen(err)
      Process.setsid
      command, *args = line.split
      puts "#{command} #{args.join("+")} #{application.inspect}"
      $stderr.puts "warned by #{command}"
      application[:changed] = true
      exit(command == "bad" ? 7 : 0)
    end
    out.close
    err.close
    Process.wait(pid)
    there.puts($?.exitstatus)
  end
  exit!(true)
end
there.close
%w[run bad run].each do |command|
  r, w = IO.pipe
  r2, w2 = IO.pipe
  here.send_io(w)
  here.send_io(w2)
  here.puts("#{command} a b")
  w.close
  w2.close
  print r.read, r2.read
  p here.gets.to_i
end
here.close
Process.wait(server)
p $?.success?

# The number of the process is the child's there, also where it was asked for before.
parent = [Process.pid, $$]
r, w = IO.pipe
child = fork { w.puts "#{Process.pid} #{$$} #{Process.ppid}"; w.close; exit!(0) }
w.close
Process.wait(child)
p r.read.split.map(&:to_i) == [child, child, parent[0]], parent == [Process.pid, $$]
