# The program's file stays where it was when the program changes its directory.
require "tmpdir"
Dir.mktmpdir do |dir|
  Dir.mkdir("#{dir}/sub")
  File.write("#{dir}/sub/main.rb", <<~RUBY)
    before = __dir__
    Dir.chdir("/")
    p __FILE__, before == __dir__, caller_locations(0)[0].absolute_path == File.join(before, "main.rb")
    require_relative "other"
    p RubyVM.fork { [__dir__ == before, Thread.each_caller_location { |l| break l.lineno }] }.value
  RUBY
  File.write("#{dir}/sub/other.rb", "puts 'other'\n")
  Dir.chdir(dir) { system(File.readlink("/proc/self/exe"), "sub/main.rb") }
end
p $LOAD_PATH.resolve_feature_path("no/such/feature")
kind, file = $LOAD_PATH.resolve_feature_path("optparse")
p kind, file.end_with?("/optparse.rb"), $LOADED_FEATURES.include?(file)
p $LOAD_PATH.resolve_feature_path("stringio")
p eval("__dir__", nil, "some/where.rb"), eval("__dir__", nil, "here.rb")
# Needs the standard library.
