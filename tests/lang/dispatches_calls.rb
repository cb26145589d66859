# Without --gc=stress.
# Every instruction (with dispatches.rb) is dispatched a million times without the interpreter being left: a handler that calls the next one instead of jumping to it would
# run out of native stack. crates/compiler/tests/dispatches.rs looks whether none is missing here.
N = (ARGV[0] || 1_000_000).to_i

def counted(name)
  yield
rescue SystemStackError
  puts "#{name}: out of stack"
end

class Plain
  attr_reader :count

  def initialize = @count = 0
  def plus(x) = @count += x
  def block = yield(1)
  def blocks(x) = yield(x, *[1], k: 2)
  def keywords(a, b = 2, *c, k: 1, **o, &d) = a
  def takes(value) = nil
  def given = block_given?
  def -@ = self
  def !@ = false
  def succ = self
  def missing(a, (b, *c), d = a) = d
end

class Derived < Plain
  def plus(x) = super
  def takes(value) = super(value)
  def keywords(...) = super(...)
  def block(&b) = super(&b)
end

def self.helper(x = nil) = x
def self.with_block = yield
def given = block_given?
def a_block(&b) = b
def yields_in_block = with_block { yield }

counted("calls") do
  o, d, list, keys, to_proc = Plain.new, Derived.new, [1], { k: 1 }, :succ.to_proc
  i = 0
  while (i += 1) < N
    o.plus(1); o.count; o.block { |x| x }; o.blocks(1) { |x, y| x }; o.keywords(1); o.keywords(*list, **keys); o.block(&to_proc); o.given
    helper; helper(1); with_block { 1 }; with_block { next 2 }; given; given { }
    o.takes(i); -o; !o; o.succ; o.missing(1, [2, 3])
  end
  i = 0
  while (i += 1) < N
    d.plus(1); d.takes(1); d.keywords(1, 2, 3, k: 4); d.block { 1 }; a_block(&nil); a_block { 1 }; yields_in_block { 1 }; -> { 1 }; lambda { |x| x }; proc { }
  end
end

counted("blocks that leave") do
  def returns = with_block { return 1 }
  def plain_return(x)
    return x if x
    nil
  end
  i = 0
  while (i += 1) < N
    with_block { break 1 }
    plain_return(i)
  end
  i = 0
  returns while (i += 1) < N
end

counted("exceptions") do
  error = RuntimeError.new("again")
  error.set_backtrace([])
  i = 0
  while (i += 1) < N
    begin
      raise error
    rescue ArgumentError, *[TypeError]
      1
    rescue RuntimeError => e
      2
    ensure
      3
    end
    begin
      1
    ensure
      2
    end
  end
end

counted("definitions") do
  o = Object.new
  i = 0
  while (i += 1) < N
    class Opened; end
    module Some; end
    class << o; end
    eval "" if i == 1
  end
  i = 0
  while (i += 1) < N
    def defined_again = 1
    def o.single = 1
  end
  $VERBOSE = nil
  i = 0
  while (i += 1) < N
    Opened::Constant = 1
  end
  i = 0
  while (i += 1) < N
    /a#{1}/
    $~
  end
end

puts "done"
