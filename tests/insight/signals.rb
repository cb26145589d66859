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
  %w[KILL VTALRM XCPU].each { |signal| p [signal, *run[signal]] }
end
