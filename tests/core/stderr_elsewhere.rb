# What ends a program is told where the program says that errors go.
require "tmpdir"
Dir.mktmpdir do |d|
  log = "#{d}/log"
  out = IO.popen([RbConfig.ruby, "-e", 'STDERR.reopen(ARGV[0]); raise "to the log"', log, err: [:child, :out]], &:read)
  p out, File.read(log)[/to the log/], $?.exitstatus #=> "", "to the log", 1
  out = IO.popen([RbConfig.ruby, "-e", '$stderr = File.open(ARGV[0], "w"); raise "there"', log, err: [:child, :out]], &:read)
  p out, File.read(log)[/there/] #=> "", "there"
  out = IO.popen([RbConfig.ruby, "-e", 'raise "here"', err: [:child, :out]], &:read)
  p out[/here/] #=> "here"
end
# Needs the standard library.
