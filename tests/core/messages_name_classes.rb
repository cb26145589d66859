# A class that says its name by a `to_s` of its own is called so in messages.
def labeled(name, of = Object, &body)
  Class.new(of) do
    define_singleton_method(:to_s) { name }
    class << self
      alias inspect to_s
      alias name to_s
    end
    class_eval(&body) if body
  end
end
def try
  yield
rescue StandardError => e
  puts "#{e.class}: #{e.message.gsub(/0x\h+/, "0x0").sub(/ failed:.*/, " failed")}"
end
c = labeled("Cテスト") { attr_accessor :foo }
o = c.new
try { o.dup.freeze.foo = 1 }
try { Object.new.clone(freeze: o) }
try { 1.clone(freeze: o) }
try { 1.0 < o }
try { [3, o].sort }
try { Time.at(o) }
try { Integer(o) }
try { [1].first(o) }
try { "a" + o }
try { ObjectSpace.define_finalizer(+"", o) }
try { $stdout = o }
puts labeled("P🍻", Proc).new {}.inspect.sub(/0x\h+.*/, "")
a = labeled("A") { def foo(x = 1) = x }
p a.instance_method(:foo).inspect[/A#foo\(x=...\)/]

# Without one it is what it was.
try { Class.new.new.freeze.instance_variable_set(:@a, 1) }
class K; freeze; end
try { K.singleton_class.instance_variable_set(:@a, 1) }

# A global variable is called by its alias.
alias $行 $/
$VERBOSE = nil
Warning[:deprecated] = true
$VERBOSE = true
def Warning.warn(m, **) = puts(m.sub(/\A.*?: /, ""))
$行 = "\n"
begin
  1.times { |i| nothing = 1; missing_here }
rescue NameError => e
  p e.local_variables.include?(:nothing)
end
p Class.instance_method(:allocate).bind_call(Rational), (Rational.allocate rescue $!.class), (Encoding::UTF_8.dup rescue $!.message)
p Process::Status.allocate.inspect, Signal.list.keys.map(&:object_id) == Signal.list.keys.map(&:object_id)
/(\w)(\d)?/ =~ "ab"
p global_variables.include?(:$1), global_variables.include?(:$2)
p (Marshal.load("\x04\bo:\x11RuntimeError\b:\tmesgI\"\berr\x06:\x06ET:\abt[\x00:\ncause@\x05") rescue $!.message[/circular causes/])
p Marshal.load("\004\b/\a\\u\000")
p((Marshal.load("\x04\bI/\x05\x00\x06:\x06E{\x06@\x05T") rescue $!.class), File.expand_path("sub", "//"), (0..9).lazy.with_index(2).map(&->(i, j) { [i, j] }).first(2))
e = Object.new.extend(Enumerable)
def e.each(foo:) = yield(foo)
p e.to_a(foo: 1)
class Keeper
  include Enumerable
  attr_reader :block
  def each(&block)
    @block = block
    self
  end
end
k = Keeper.new
k.grep(//)
p k.block.call(1)
