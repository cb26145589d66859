# A program that ends by a signal leaves its report, if Ruby makes an exception of it; what ends the process at once leaves nothing (docs/insight.md).
require "json"
require "tmpdir"
EXE = File.readlink("/proc/self/exe")

Dir.mktmpdir do |dir|
  file = "#{dir}/r.json"
  run = lambda do |signal, code = "$stdout.puts 1; $stdout.flush; sleep"|
    r, w = IO.pipe
    pid = spawn(EXE, "-W0", "--report=#{file}", "--trace", "#{dir}/t.json", "-e", code, out: w, err: File::NULL)
    w.close
    r.gets
    Process.kill(signal, pid)
    Process.wait(pid)
    [$?.termsig && Signal.signame($?.termsig), $?.exitstatus, *[file, "#{dir}/t.json"].map { |f| File.size(f) > 0 && JSON.parse(File.read(f)).key?(f == file ? "version" : "traceEvents") }]
  end
  # Where a shell has the program ignore some of them, they would do nothing.
  %w[HUP INT QUIT ALRM TERM USR1 USR2].each { |signal| p [signal, *run[signal]] }
  p run["TERM", "trap(:TERM) { exit 3 }; $stdout.puts 1; $stdout.flush; sleep"]
  # While another VM computes, and the main VM waits for it.
  p run["QUIT", "v = RubyVM.fork { loop { } }; $stdout.puts 1; $stdout.flush; v.join"]
  # Again and again, when the program has ended, and the files are being written: they are finished first.
  many = "2000.times.map { |i| RubyVM.new(%(v\#{i}x), %q(-e), %q(1)).start }.each(&:join); $stdout.puts 1; $stdout.flush; at_exit { spawn('while kill -SIGNAL '+$$.to_s+'; do sleep 0.001; done') }"
  %w[TERM INT].each { |signal| p run["CONT", many.sub("SIGNAL", signal)] }
  %w[KILL VTALRM XCPU].each { |signal| p [signal, *run[signal]] }
  # Nobody reads what is written: who asks again after a while does not wait.
  File.mkfifo("#{dir}/fifo")
  held = File.open("#{dir}/fifo", File::RDWR | File::NONBLOCK)
  pid = spawn(EXE, "-W0", "--trace", "#{dir}/fifo", "-e", "2000.times.map { |i| RubyVM.new(%q(v), %q(-e), %q(1)).start }.each(&:join)", err: File::NULL)
  sleep 1
  Process.kill(:INT, pid)
  sleep 2.5
  p Process.wait(pid, Process::WNOHANG)
  Process.kill(:TERM, pid)
  Process.wait(pid)
  p $?.termsig && Signal.signame($?.termsig)
  held.close
  # One that the program ignored changes nothing then.
  held = File.open("#{dir}/fifo", File::RDWR | File::NONBLOCK)
  pid = spawn(EXE, "-W0", "--trace", "#{dir}/fifo", "-e", "trap(:HUP, %q(IGNORE)); 2000.times.map { |i| RubyVM.new(%q(v), %q(-e), %q(1)).start }.each(&:join)", err: File::NULL)
  sleep 1
  Process.kill(:HUP, pid)
  status = nil
  until (status = Process.wait2(pid, Process::WNOHANG))
    held.read_nonblock(1 << 20, exception: false) == :wait_readable and sleep 0.001
  end
  p status[1].exitstatus
  held.close
end
