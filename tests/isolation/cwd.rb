require_relative "support/pair"
base = File.join(ENV["TMPDIR"] || "/tmp", "zk-cwd-#{Process.pid}")
Dir.mkdir(base)
[1, 2].each { |n| Dir.mkdir(File.join(base, "d#{n}")) }
here = Dir.pwd
begin
  pair(<<~RUBY)
    Dir.chdir(File.join(#{base.dump}, "d\#{me}"))
    File.write("mine", "of \#{me}")
    both.()
    inner = Dir.chdir("..") { File.basename(File.expand_path("x/..")).start_with?("zk-cwd") }
    out << [File.basename(Dir.pwd), File.read("mine"), Dir.children("."), File.exist?("../mine"), File.basename(File.expand_path(".")), inner]
  RUBY
  p Dir.pwd == here, File.exist?("mine"), [1, 2].map { |n| File.read(File.join(base, "d#{n}", "mine")) }
ensure
  [1, 2].each do |n|
    File.delete(File.join(base, "d#{n}", "mine"))
    Dir.rmdir(File.join(base, "d#{n}"))
  end
  Dir.rmdir(base)
end
