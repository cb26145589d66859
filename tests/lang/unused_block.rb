# Warnings about blocks that a method never looks at.
$VERBOSE = false
short = Object.new
def short.write(*texts) = texts.join("").gsub(%r{\S*/(\w+\.rb)}, '\1').then { |t| $stdout.write(t) }
$stderr = short
def ignores = 42
def yields = yield
def takes(&b) = b
def takes_any(&) = 1
def asks = block_given?
def tests = defined?(yield)
def evaluates = eval("block_given?")
def inner = [1].each { yield }
def forwards(...) = ignores2(...)
def ignores2 = 1
class Base
  def initialize = 1
  def up = 1
  def named(a, k: 1) = a
  def self.single = 1
end
class Derived < Base
  def up = super
end

puts "== by default"
ignores {}

puts "== strict"
Warning[:strict_unused_block] = true
yields {}
takes {}
takes_any {}
tests {}
evaluates {}
inner {}
Derived.new {}
Derived.new.up {}
p ignores {}
ignores {}
asks {}
forwards {}
Base.new.named(1) {}
Base.new.named(1, k: 2) {}
Base.single {}
pr = proc {}
def passed = 1
passed(&pr)
passed(&nil)
def splatted(*) = 1
splatted(*[1, 2]) {}
def sent = 1
send(:sent) {}
def later(a, k: 2) = a
later(1, k: 2) {}
define_method(:a_proc) { 1 } rescue self.class.define_method(:a_proc) { 1 }
a_proc {}
Warning[:strict_unused_block] = false

puts "== with -w only names that no method takes a block by"
$VERBOSE = true
def shared_name = 1
class Base
  def shared_name = yield
end
shared_name {}
def own_name = 1
own_name {}

puts "== told to Warning.warn, which may raise or define"
class << Warning
  def warn(message, **kw)
    puts "told: #{message}", kw.inspect
    $VERBOSE = false
    Object.class_eval { def changes = :new }
  end
end
def changes = :old
p changes {}
class << Warning
  def warn(message) = raise(message)
end
$VERBOSE = true
def raising = 1
begin
  raising {}
rescue => e
  puts e.message
end
begin
  raising {}
rescue => e
  puts e.message
end
