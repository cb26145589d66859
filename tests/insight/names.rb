# Long names do not make a table wide, and --dashboard-kill takes a port as --dashboard does.
EXE = File.readlink("/proc/self/exe")

def said(*arguments)
  r, w = IO.pipe
  pid = spawn(EXE, *arguments, out: w, err: w)
  w.close
  r.read
ensure
  Process.wait(pid)
end

report = said("--report", "-e", <<~'RUBY')
  jobs = RubyVM::Channel.new(name: "first#{"y" * 500}last")
  RubyVM.fork(jobs, name: "x" * 500) { |c| c << 1 << 2 }.value
  jobs.recv
RUBY
p report[/^VM .*\z/m].lines.first(9).map(&:size).max < 250, report[/^first\S+/], report[/^x\S+/]
p said("--dashboard-kill=0", "-e", "0")[/dashboard at http/], said("--dashboard-kill=x", "-e", "0")
