base = File.join(ENV["TMPDIR"] || "/tmp", "zk-dir-more-#{Process.pid}")
Dir.mkdir(base)
Dir.chdir(base) do
  %w[b.txt a.rb .hidden c.txt].each { |f| File.write(f, f * 2) }
  Dir.mkdir("sub")
  File.write("sub/deep.rb", "puts 1")
  p Dir.children(".").sort, Dir["*.txt"], Dir.glob("**/*.rb").sort, Dir.glob("*", File::FNM_DOTMATCH).sort.include?(".hidden"), Dir.exist?("sub"), Dir.empty?("sub"), Dir.entries("sub").sort
  p File.size("a.rb"), File.read("b.txt"), File.stat("a.rb").size, File.file?("sub"), File.zero?("a.rb"), File.exist?("nope"), File.readlines("sub/deep.rb")
  Dir.open(".") { |d| p d.children.size, d.each_child.to_a.size, d.path }
  p (Dir.rmdir("sub") rescue $!.class), (Dir.children("nope") rescue $!.class), (File.rename("nope", "x") rescue $!.class), (File.open("sub") { |f| f.read } rescue $!.class)
  File.open("log", "a") { |f| 3.times { |i| f.puts "l#{i}" } }
  File.open("log", "a") { |f| f.puts "more" }
  p File.foreach("log").to_a, File.foreach("log", chomp: true).with_index.to_a.last, File.open("log") { |f| f.each_line.map(&:chomp).join(",") }, File.open("log", &:readline), IO.readlines("log", chomp: true).size
  File.open("log", "r+") { |f| f.readline; f.write("XX"); f.rewind; p f.read }
  File.truncate("log", 4)
  p File.read("log"), File.open("log", "w") { |f| f.write("abc") }, (File.open("log", "wx") { } rescue $!.class)
  p File.write("log", "zz", 1), File.read("log").bytes, File.utime(0, 0, "log"), File.mtime("log").to_i, File.ftype("sub"), File.ftype("log"), File.world_readable?("log").class, File.umask.class
  Dir.glob("**/*", File::FNM_DOTMATCH).select { |f| File.file?(f) }.each { |f| File.delete(f) }
  Dir.rmdir("sub")
end
Dir.rmdir(base)
p Dir.exist?(base)
