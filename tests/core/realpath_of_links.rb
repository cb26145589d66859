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
