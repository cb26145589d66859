# VMs want the lock of one file, and hold it while they compute.
require "tmpdir"
require_relative "work"
path = File.join(Dir.tmpdir, "zakuro.planted.#{$$}")
4.times.map { |i| RubyVM.fork(path, name: "writer#{i}") { |path| 10.times { File.open(path, "w") { |f| f.flock(File::LOCK_EX); work(20) } } } }.each(&:join)
File.delete(path)
