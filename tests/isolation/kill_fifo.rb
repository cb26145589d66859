# Who opens a FIFO for reading and waits for a writer can be left, also when the FIFO has lost its name meanwhile, or another file has got it.
require "tmpdir"
require "timeout"

def in_time = Process.clock_gettime(Process::CLOCK_MONOTONIC).then { |t| yield; Process.clock_gettime(Process::CLOCK_MONOTONIC) - t < 10 ? "in time" : "late" }

Dir.mktmpdir do |dir|
  path = File.join(dir, "fifo")
  [->{}, -> { File.unlink(path) }, -> { File.rename(path, path + "2"); File.write(path, "x") }].each do |change|
    File.mkfifo(path)
    told = RubyVM::Channel.new
    vm = RubyVM.fork(told, path) { |told, path| told << 1; File.open(path) { 1 } }
    told.recv
    sleep 0.1
    change.()
    vm.kill(grace: 0)
    puts in_time { vm.join rescue puts $!.message[/killed/] }
    File.unlink(path) if File.exist?(path)

    File.mkfifo(path)
    Thread.new { sleep 0.1; change.() }
    begin
      Timeout.timeout(0.3) { File.open(path) }
    rescue Timeout::Error
      puts "timeout"
    end
    File.unlink(path) if File.exist?(path)
  end

  # And it is opened when a writer comes.
  File.mkfifo(path)
  reader = Thread.new { File.open(path, &:read) }
  sleep 0.05
  File.write(path, "words")
  p reader.value
  File.unlink(path)
  File.symlink(File.join(dir, "pipe"), path)
  File.mkfifo(File.join(dir, "pipe"))
  reader = Thread.new { File.open(path, &:read) }
  sleep 0.05
  File.write(path, "more")
  p reader.value
end
p Dir.children("/proc/self/fd").size < 40
