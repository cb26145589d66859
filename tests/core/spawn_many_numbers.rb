# A program that is not there is told also where the numbers of descriptors are taken by what it is to have.
require "tmpdir"
Dir.mktmpdir do |dir|
  Dir.chdir(dir) do
    begin
      Process.wait Process.spawn("non-existing-command", (3..60).to_a => ["err", File::WRONLY | File::CREAT])
    rescue SystemCallError => e
      p e.class
    end
    p File.read("err")
    Process.wait Process.spawn("echo hi >&7; echo ho >&9", 7 => ["seven", "w"], 9 => ["nine", "w"])
    p File.read("seven"), File.read("nine")
  end
end

# A failed exec leaves the process as it was: a pipe that nobody reads is an error, not the end.
if (pid = fork)
  p Process.wait2(pid)[1].exitstatus
else
  begin
    exec("non-existing-command")
  rescue SystemCallError
    r, w = IO.pipe
    r.close
    begin
      w.syswrite("x")
    rescue Errno::EPIPE
      exit!(3)
    end
  end
end

# A source that is closed.
number = 200
begin
  Process.wait Process.spawn("true", number => number)
rescue SystemCallError => e
  p e.class
end
