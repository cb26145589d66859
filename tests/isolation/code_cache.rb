# What `require` compiles is kept for later processes, and believed only where nobody else could have written it.
require "fileutils"
require "tmpdir"
EXE = File.readlink("/proc/self/exe")
Dir.mktmpdir do |top|
  lib = "#{top}/lib.rb"
  text = "# " + "x" * 1200 + "\ndef answer(a = 1, *rest, k: 2, &b) = [a, rest, k, __FILE__ == #{lib.dump}, __LINE__]\nx = 5 if false\n"
  File.write(lib, text)
  cache = "#{top}/cache"
  Dir.mkdir(cache, 0o700)
  run = ->(*options) do
    IO.popen([{"XDG_CACHE_HOME" => cache, "RUBYOPT" => nil}, EXE, *options, "-r", lib, "-e", "p answer(7, 8, k: 9)", err: [:child, :out]], &:read)
  end
  entries = -> { Dir.glob("#{cache}/zakuro/code/*/*") }
  long_ago = Time.now - 3 * 24 * 3600
  # An entry that was not used for days says so when it is.
  used = ->(*options) do
    File.utime(long_ago, long_ago, entries.().first)
    shown = run.(*options)
    [shown, Time.now - File.mtime(entries.().first) < 3600]
  end

  puts run.()
  p entries.().size, entries.().map { File.stat(_1).mode.to_s(8) }, File.stat("#{cache}/zakuro").mode.to_s(8)
  p used.()
  p used.("--disable=code-cache")
  p used.("--disable=all"), used.("--disable=code-cache", "--enable=code-cache")

  puts "others may write"
  entry = entries.().first
  [entry, File.dirname(entry), "#{cache}/zakuro/code"].each do |place|
    was = File.stat(place).mode
    [0o020, 0o002].each do |bit|
      File.chmod(was | bit, place)
      p used.().last
    end
    File.chmod(was, place)
  end
  # What compiled anew has replaced the entry, where it could.
  p entries.().size, used.().last

  puts "damaged"
  whole = File.binread(entry)
  [whole[0...-1], whole[0, 50], "", whole.sub("answer", "Answer"), whole + "x", "\0" * whole.size].each do |bytes|
    File.binwrite(entry, bytes)
    puts run.()
    p File.binread(entry) == whole
  end
  File.delete(entry)
  File.symlink(lib, entry)
  puts run.()
  p File.symlink?(entry), File.binread(entry) == whole

  puts "another text"
  File.write(lib, text.sub("[a, ", "[:new, a, "))
  puts run.(), entries.().size

  puts "many at once"
  FileUtils.rm_rf("#{cache}/zakuro")
  outputs = 6.times.map { Thread.new { run.() } }.map(&:value)
  p outputs.uniq, entries.().size, Dir.glob("#{cache}/zakuro/code/*/.*").reject { File.directory?(_1) }

  puts "a folder of nobody's"
  FileUtils.rm_rf("#{cache}/zakuro")
  File.chmod(0o777, cache)
  puts run.()
  p entries.()
end
