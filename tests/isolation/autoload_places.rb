# Where a constant stands that its autoload has loaded between two forks.
require "tmpdir"

Dir.mktmpdir do |dir|
  File.write(File.join(dir, "late.rb"), "\n\nLate = 1\n")
  autoload :Late, File.join(dir, "late.rb")
  p RubyVM.fork { 1 }.value
  p Late, Object.const_source_location(:Late)[1]
  2.times { p RubyVM.fork { Object.const_source_location(:Late)[1] }.value }
end
