# `[:child, n]` in redirections of programs: through several numbers, in any order, and where it leads nowhere.
require "tmpdir"

def tried(**options)
  Process.wait(spawn("true", **options))
  p $?.success?
rescue ArgumentError => e
  p e
end

Dir.mktmpdir do |dir|
  out = File.join(dir, "out")
  say = "echo to out; echo to err >&2"
  run = ->(command = say, **options) { Process.wait(spawn(command, **options)); p File.read(out) }
  run.call(STDOUT => out, STDERR => [:child, STDOUT])
  run.call(STDERR => [:child, STDOUT], STDOUT => out)
  run.call(STDOUT => out, STDERR => [:child, 3], 3 => [:child, 4], 4 => [:child, STDOUT])
  run.call("echo five >&5; echo six >&6", 5 => [:child, 6], 6 => [:child, 7], 7 => [out, "w"])
  run.call("echo swapped >&3; echo twice >&4", 3 => [out, "w"], 4 => [:child, 3])
  run.call("echo from >&9; echo many >&8", [8, 9] => [out, "w"])
  run.call("echo both; echo of them >&2", [1, 2] => out)
  # Other numbers read a file that is named.
  run.call("cat <&7; cat <&3", 7 => out, [2, 3] => __FILE__, 1 => File.join(dir, "again"))
  p File.read(File.join(dir, "again")) == "both\nof them\n" + File.read(__FILE__)
end
p IO.popen(["sh", "-c", "echo popen; echo err >&2", STDERR => [:child, STDOUT]], &:read)
p IO.popen("echo through >&5", 5 => [:child, 1], &:read)

tried(2 => [:child, 1])
tried(3 => [:child, 0])
tried(1 => :close, 2 => [:child, 1])
tried(STDOUT => [:child, STDOUT])
tried(3 => [:child, 4], 4 => [:child, 3])
tried(3 => [:child, 4], 4 => [:child, 5], 5 => [:child, 3])
tried(3 => [:child, 7], 7 => [:child, 8])
tried(5 => [:child, 6], 6 => [:child, 5], 7 => "/dev/null")
begin
  IO.popen("true", 3 => [:child, 9]) { }
rescue ArgumentError => e
  p e
end
p system("true", 3 => [:child, 4], 4 => "/dev/null")
# A long chain, and one that ends nowhere.
chain = (10..1500).to_h { |n| [n, [:child, n + 1]] }
p system("true", **chain, 1501 => "/dev/null")
tried(**chain)
tried(**chain, 1501 => [:child, 10])
