dir = File.join(ENV["TMPDIR"] || "/tmp", "zk-file-io-#{Process.pid}")
Dir.mkdir(dir)
begin
  path = File.join(dir, "a.txt")
  p File.write(path, "line1\nline2\nline3"), File.read(path), File.size(path), File.exist?(path), File.file?(path), File.directory?(dir), File.zero?(path), File.readlines(path), File.readlines(path, chomp: true), File.foreach(path).map(&:size), File.basename(path), File.basename(path, ".txt"), File.extname(path), File.dirname(path) == dir, File.readable?(path), File.writable?(path), File.executable?(path)
  File.open(path) do |f|
    p f.gets, f.lineno, f.read(3), f.pos, f.readline, f.eof?, f.read, f.eof?, f.gets, f.read, f.read(1), f.rewind, f.readlines.size, f.seek(-5, IO::SEEK_END), f.read, f.closed?, f.path == path, f.getc, f.getbyte
    begin; f.readline; rescue EOFError => e; p e.message; end
    begin; f.write("x"); rescue IOError => e; p e.message; end
  end
  f = File.open(path, "w+")
  f << "a" << 1
  f.puts "p", [1, 2]
  f.print "x", "y"
  f.printf("%d", 5)
  f.write("w", "z")
  f.flush
  f.rewind
  p f.read, f.close, f.closed?, (f.read rescue $!.message)
  File.open(path, "a") { |g| g.write("appended") }
  p File.read(path)[-8..], File.read(path, 3), File.read(path, 3, 1), IO.read(path).size, File.open(path, &:gets), File.binread(path).encoding.to_s, File.read(path, encoding: "BINARY").encoding.to_s, File.open(path, "rb") { |g| g.read.encoding.to_s }, File.open(path, "r:iso-8859-1") { |g| g.read.encoding.to_s }
  File.open(path, "r+") { |g| g.seek(1); g.write("ZZ"); g.pos = 0; p g.read(4), g.each_char.first(2), g.ungetc("q"), g.getc, g.each_byte.first, g.truncate(2), g.size }
  p File.rename(path, path + "2"), File.exist?(path), File.delete(path + "2"), (File.read(path) rescue $!.class), (File.open(path) rescue $!.message.sub(dir, "DIR")), (Dir.mkdir(dir) rescue $!.class)
  File.write(File.join(dir, "u.txt"), "é日\n\r\nx")
  p File.read(File.join(dir, "u.txt")), File.open(File.join(dir, "u.txt")) { |g| g.each_char.to_a }, File.readlines(File.join(dir, "u.txt"), chomp: true), File.open(File.join(dir, "u.txt")) { |g| g.each_line("").to_a }, File.open(File.join(dir, "u.txt")) { |g| g.readpartial(100).bytesize }, File.open(File.join(dir, "u.txt")) { |g| g.gets(nil).size }, File.open(File.join(dir, "u.txt")) { |g| g.gets(2) }, File.open(File.join(dir, "u.txt")) { |g| g.each_line(chomp: true).with_index.to_a }
  s = File.stat(File.join(dir, "u.txt"))
  p s.size, s.file?, s.directory?, s.mtime.class, File.mtime(dir).class, (File.chmod(0600, File.join(dir, "u.txt"))), File.stat(File.join(dir, "u.txt")).mode.to_s(8), File.symlink("u.txt", File.join(dir, "l")), File.symlink?(File.join(dir, "l")), File.readlink(File.join(dir, "l")), File.lstat(File.join(dir, "l")).symlink?, File.realpath(File.join(dir, "l")) == File.realpath(File.join(dir, "u.txt")), File.identical?(File.join(dir, "l"), File.join(dir, "u.txt")), File.ftype(dir)
  Dir.mkdir(File.join(dir, "sub"))
  File.write(File.join(dir, "sub", "b.rb"), "")
  p Dir.children(dir).sort, Dir.entries(dir).sort, Dir.glob(File.join(dir, "*")).map { |x| File.basename(x) }.sort, Dir.glob("**/*.rb", base: dir), Dir[File.join(dir, "*.{txt,rb}")].size, Dir.exist?(dir), Dir.empty?(dir), Dir.each_child(dir).to_a.sort, Dir.glob("*/", base: dir), Dir.glob("{u,z}*", base: dir), Dir.glob("[a-l]", base: dir)
  Dir.chdir(dir) { p Dir.pwd == File.realpath(dir), File.exist?("u.txt"), File.expand_path("x") == File.join(File.realpath(dir), "x") }
  r, w = IO.pipe
  w.puts "through"; w.close
  p r.read, r.close, IO.copy_stream(File.join(dir, "u.txt"), File.join(dir, "c.txt")), File.unlink(File.join(dir, "c.txt"))
ensure
  Dir.glob(File.join(dir, "**/*")).sort.reverse.each { |x| File.directory?(x) && !File.symlink?(x) ? Dir.rmdir(x) : File.delete(x) }
  Dir.rmdir(dir)
end
p Dir.exist?(dir)
