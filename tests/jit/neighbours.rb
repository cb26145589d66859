# Without --gc=stress. VMs that run one program share its machine code; what one of them changes, the others don't notice.
PROGRAM = <<~R
  stop, told = RubyVM::ARGV
  def work(n)
    s = 0
    n.times { |i| s += i * 2; s -= i }
    i = 0
    while i < n
      s += [i, 1][0]
      s += 1 if i == 5
      i += 1
    end
    s
  end
  first = work(3000)
  told << first
  rounds = 0
  same = true
  while stop.size == 0
    same &&= work(3000) == first
    rounds += 1
  end
  told << [same, rounds > 0]
R
stop = RubyVM::Channel.new
told = RubyVM::Channel.new
neighbours = 3.times.map { RubyVM.new("n", "-e", PROGRAM).start(stop, told) }
p 3.times.map { told.recv }.uniq
CHANGES = [
  "class Integer; alias o +; def +(x) = o(x).o(1); end",
  "class Integer; alias o *; def *(x) = 0; end",
  "class Integer; alias o <; def <(x) = o(x); end",
  "class Integer; def ==(x) = false; end",
  "class Integer; alias o times; def times = (o { |i| yield i }; yield 5); end",
  "class Array; def [](i) = 3; end",
]
CHANGES.each do |change|
  out = RubyVM::Channel.new
  text = PROGRAM.sub(/told << first.*/m, "told << first\n" + change + "\ntold << work(3000)")
  RubyVM.new("c", "-e", text).start(RubyVM::Channel.new, out).join
  before, after = out.recv, out.recv
  puts "#{change[0, 40]}: #{before} #{after == before ? :same : :other}"
end
stop << 1
p neighbours.map { told.recv }
neighbours.each(&:join)

# A thousand VMs: no more machine code than for one, but for what no other VM has run yet.
LITTLE = "def f(n) = n < 2 ? n : f(n - 1) + f(n - 2); s = 0; 200.times { |i| s += f(i % 10) }; RubyVM::ARGV[0] << s"
many = RubyVM::Channel.new
run = ->(k) { k.times.map { RubyVM.new("l", "-e", LITTLE).start(many) }.each(&:join); k.times.map { many.recv }.uniq }
p run.(20)
one = RubyVM::JIT.stat
p 39.times.flat_map { run.(25) }.uniq
all = RubyVM::JIT.stat
grown = all[:bytes] - one[:bytes]
p grown <= [one[:bytes], 200_000].max, all[:compiled] - one[:compiled] < 100
