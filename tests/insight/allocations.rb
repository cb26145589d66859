# A profile of allocations: who allocates, by bytes and objects, in all VMs.
require "json"
require "tmpdir"
EXE = File.readlink("/proc/self/exe")

PROGRAM = <<'RUBY'
def much(n) = n.times.map { |i| [i, i] }
def little(n) = n.times.map { |i| [i, i] }
def texts(n) = n.times.map { "x" * 10_000 }
vm = RubyVM.fork(name: "texts") { 30.times { texts(100) }; nil }
20.times { much(9_000); little(1_000) }
vm.join
RUBY

Dir.mktmpdir do |dir|
  run = ->(file, *options) { system(EXE, *options, "--profile=alloc", "#{dir}/#{file}", "-e", PROGRAM) }
  p run["a.txt"]
  stacks = File.readlines("#{dir}/a.txt", chomp: true).map { |l| [l[/\A(.*) \d+\z/, 1].split(";"), l[/\d+\z/].to_i] }
  sum = ->(name) { stacks.select { |frames, _| frames.any? { |f| f.start_with?(name) } }.sum(&:last) }
  much, little, texts = sum["Object#much"], sum["Object#little"], sum["Object#texts"]
  p stacks.map { |frames, _| frames[0] }.uniq.sort
  # Nine times as much; 20 samples or so are of the lesser one.
  p (4..25).cover?(much / little.clamp(1..)), (25_000_000..40_000_000).cover?(texts)
  p run["a.json"]
  profile = JSON.parse(File.read("#{dir}/a.json"))
  samples = profile["threads"].find { |t| t["name"].start_with?("texts") }["samples"]
  p samples["weightType"], samples["weight"].all?(Integer), (25_000_000..40_000_000).cover?(samples["weight"].sum)
  p run["a.svg"], File.read("#{dir}/a.svg").match?(/Where the VMs allocate: [\d.]+ MB, \d+ objects/)
  p run["a.svg", "--jit=off"], File.read("#{dir}/a.svg").match?(/Object#texts \(-e\): [\d.]+ MB, \d+ objects/)
end
system(EXE, "--profile=alloc", "-e", "p 1", err: :out)
