# File::Stat from one question to the system: its fields as those of an open stream, of links, devices and what is not there.
require "tmpdir"

FIELDS = %i[dev dev_major dev_minor ino mode nlink uid gid rdev rdev_major rdev_minor size blksize blocks atime mtime ctime ftype]
def fields(st) = FIELDS.map { st.send(it) }

Dir.mktmpdir do |dir|
  path = File.join(dir, "file")
  File.write(path, "x" * 5000)
  File.chmod(0640, path)
  File.utime(Time.at(1, 250_000_000, :nsec), Time.at(-2, 5, :nsec), path)
  File.symlink("file", link = File.join(dir, "link"))
  File.link(path, File.join(dir, "other"))
  st = File.stat(path)
  p fields(st) == File.open(path) { fields(it.stat) }, fields(File.stat(link)) == fields(st), fields(File.lstat(link)) == fields(st)
  p st.size, st.mode.to_s(8), st.nlink, st.mtime.nsec, st.atime.to_f, st.mtime.to_i, st.ftype, File.lstat(link).ftype, File.lstat(link).size, File.stat(dir).ftype
  p st == File.stat(link), st.file?, st.zero?, st.owned?, st <=> File.stat(dir), (st.birthtime - Time.now).abs < 600, st.dev_major == st.dev >> 8 & 0xfff
  Dir.chdir(dir) { p fields(File.stat("file")) == fields(st) }
  [File.join(dir, "none"), "", File.join(path, "below"), "a\0b", 1, nil].each do |bad|
    p begin File.stat(bad) rescue [$!.class, $!.message.sub(dir, "DIR")] end
    p begin File.lstat(bad) rescue [$!.class, $!.message.sub(dir, "DIR")] end
  end
  File.symlink("loop", loop = File.join(dir, "loop"))
  p begin File.stat(loop) rescue $!.class end, File.lstat(loop).symlink?
end
st = File.stat("/dev/null")
p st.chardev?, st.rdev_major, st.rdev_minor, st.rdev == File.open("/dev/null") { it.stat.rdev }, File.stat($stdin.class == IO ? "/dev/zero" : "").rdev_minor
class Path
  def to_path = "/dev/null"
end
p File.stat(Path.new).rdev_minor, File::Stat.new("/dev/null").chardev?
