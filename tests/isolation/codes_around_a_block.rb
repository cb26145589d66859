# A forked VM runs what its block stands in only later, or never: methods, blocks around it, the program's own methods; with constants, call sites, blocks and once-sites of each.
WORDS = %w[one two three]
class Counter
  attr_reader :n
  def initialize(n) = @n = n
  def down(ask)
    return "bottom of #{WORDS.size}" if @n == 0
    @n -= 1
    each = [1, 2].map { |x| x * @n }
    text = "#{each.inject(:+)}:#{/a#{@n}/o.source}"
    ask ? RubyVM.fork { [text, down(false), each.map { |x| x + 1 }, Counter.new(2).down(false)] }.join.value : "#{text} #{down(ask)}"
  end
end
p Counter.new(3).down(true)

# Blocks in blocks: the inner one runs in the VM, and makes the outer ones run there.
outer = lambda do |level|
  middle = proc do |x|
    inner = -> { level.zero? ? [x, :end] : [x, *outer.(level - 1)] }
    level == 3 ? RubyVM.fork { inner.call + [middle.arity, outer.lambda?] }.join.value : inner.call
  end
  middle.call(level * 10)
end
p outer.(3)

# A VM of a VM of a block, where nothing between has run.
def nested(depth, seen = [])
  seen << depth
  deeper = proc { depth == 0 ? seen : nested(depth - 1, seen) }
  depth > 2 ? RubyVM.fork { RubyVM.fork { deeper.call.map { |d| d.to_s } }.join.value }.join.value : deeper.call
end
p nested(4)

# A once-site that was passed before the fork keeps its value, in codes that have not run since, too.
def once(x) = /v#{x}/o.source
once(1)
def around(x)
  f = proc { [once(2), (x == :again ? :ended : around(:again))] }
  x == :first ? RubyVM.fork { f.call }.join.value : f.call
end
p around(:first)

# Evals and methods made of blocks that stand around.
maker = proc do |name|
  value = [name, 1.5, "text"]
  RubyVM.fork do
    Counter.define_method(name) { |k| [value, k, n] }
    [Counter.new(7).public_send(name, 3), eval("value.size + name.size"), binding.local_variables.include?(:value)]
  end.join.value
end
p maker.call(:made)

# Often enough to become machine code there.
def hot(n)
  sum = 0
  work = proc { |k| sum += k & 7 }
  n.times(&work)
  n > 1000 ? RubyVM.fork { 3.times { hot(900) }; 2000.times { |k| work.call(k) }; GC.start; [sum, hot(50)] }.join.value : sum
end
p hot(1001)
