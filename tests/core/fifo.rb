# Opening a FIFO waits for the other side: a thread of the same program, another VM, nobody.
require "tmpdir"

Dir.mktmpdir do |dir|
  path = File.join(dir, "fifo")
  File.mkfifo(path)

  reader = Thread.new { File.open(path, "r") { |f| f.read } }
  Thread.pass
  File.open(path, "w") { |f| f << "to a reader that waits" }
  puts reader.value

  writer = Thread.new { File.open(path, "w") { |f| f << "to a reader that comes later" } }
  Thread.pass
  File.open(path) { |f| puts f.gets }
  writer.join

  # Threads that wait for nobody can be ended, both ways, and the FIFO works after that.
  %w[r w].each do |mode|
    thread = Thread.new { File.open(path, mode) }
    Thread.pass until thread.stop?
    thread.kill.join
    puts "killed a thread that opened for #{mode}: #{thread.alive?}"
  end
  begin
    thread = Thread.new { File.open(path) }
    thread.report_on_exception = false
    Thread.pass until thread.stop?
    thread.raise(IOError, "enough")
    thread.join
  rescue IOError => e
    puts "raised: #{e.message}"
  end
  io = File.open(path, File::RDONLY | File::NONBLOCK)
  puts "opened without waiting: #{io.closed?}"
  begin
    File.open(File.join(dir, "none"), "r")
  rescue Errno::ENOENT
    puts "none"
  end
  io.close
  reader = Thread.new { IO.readlines(path) }
  IO.write(path, "one\ntwo\n")
  p reader.value
end
# Needs the standard library.
