# VMs want the lock of one file, and hold it while they sleep.
require "tmpdir"
path = File.join(Dir.tmpdir, "zakuro.planted.#{$$}")
4.times.map { |i| RubyVM.fork(path, name: "writer#{i}") { |path| File.open(path, "w") { |f| 10.times { f.flock(File::LOCK_EX); sleep 0.02; f.flock(File::LOCK_UN) } } } }.each(&:join)
File.delete(path)
