# Links in the middle, at the end, to the root, to themselves; dots, slashes, what is missing.
require "tmpdir"
Dir.mktmpdir do |d|
  d = File.realpath(d)
  Dir.chdir(d) do
    Dir.mkdir("a")
    Dir.mkdir("a/b")
    File.write("a/b/f", "")
    File.symlink("a", "la")
    File.symlink("b/../b", "a/lb")
    File.symlink("#{d}/a/b", "abs")
    File.symlink("../la/lb/f", "a/lf")
    File.symlink("loop2", "loop1")
    File.symlink("loop1", "loop2")
    File.symlink("nothing", "dangling")
    File.symlink("/", "root")
    File.symlink("a/", "slash")
    %w[a la la/b la/lb/f abs/f abs/.. abs/../lb//f/ a/lf a/./b/. a/../a/../la root root/ slash/b .. . loop1 dangling missing missing/x a/b/f/x a/missing la/missing/ la/missing// la/lb/../missing dangling/x root/..].each do |path|
      %i[realpath realdirpath].each do |m|
        r = File.send(m, path)
        r = r.sub(d, "D")
        r = "(above)" if d.start_with?(r) && r != "/"
        p [m, path, r]
      rescue SystemCallError => e
        p [m, path, e.class]
      end
    end
    p File.realpath("b/f", "a").sub(d, "D"), File.realpath("lb", "la").sub(d, "D"), (File.realpath("zz", "a") rescue $!.class), File.realdirpath("zz", "la").sub(d, "D"), File.realpath("#{d}/la", "nowhere").sub(d, "D")
  end
end

# The directory itself: one's own, reached by a link, the root, one that is gone.
Dir.mktmpdir do |d|
  d = File.realpath(d)
  Dir.mkdir("#{d}/in")
  Dir.mkdir("#{d}/in (deleted)")
  File.write("#{d}/in (deleted)/x", "")
  File.symlink("in", "#{d}/link")
  Dir.chdir("#{d}/link") do
    p File.realpath(".").sub(d, "D"), (File.realpath("") rescue $!.class), File.realdirpath("").sub(d, "D"), File.realpath("", ".").sub(d, "D"), File.realpath("..").sub(d, "D"), File.realdirpath("new").sub(d, "D"), File.realpath("../in").sub(d, "D")
    p((File.realpath("new") rescue $!.class))
  end
  Dir.chdir("#{d}/in (deleted)") { p File.realpath("x").sub(d, "D"), File.realpath(".").sub(d, "D") }
  Dir.chdir("/") { p File.realpath("."), File.realpath(d[1..]) == d, File.realpath("../.."), File.realdirpath("nothing-here") }
  Dir.chdir("#{d}/in") do
    Dir.rmdir("#{d}/in")
    %w[. .. x].each { |n| p((File.realpath(n) rescue $!.class)) }
  end
end
