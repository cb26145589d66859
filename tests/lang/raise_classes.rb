class AppError < StandardError
  def initialize(msg = "default app") = super
end
class Detailed < AppError
  attr_reader :code
  def initialize(code)
    @code = code
    super("code #{code}")
  end
end
begin; raise AppError; rescue => e; p e.message; end
begin; raise AppError, "given"; rescue => e; p e.message; end
begin; raise AppError.new("new"); rescue => e; p e.message; end
begin; raise Detailed.new(3); rescue AppError => e; p e.message, e.code; end
begin; raise Detailed, 4; rescue AppError => e; p e.code; end
begin; raise; rescue RuntimeError => e; p e.message; end
begin; raise 3; rescue TypeError => e; p e.message; end
begin; raise Object; rescue TypeError => e; p e.message; end
class Factory
  def exception(msg = "made") = RuntimeError.new("from factory: #{msg}")
end
begin; raise Factory.new; rescue => e; p e.message; end
begin; raise Factory.new, "x"; rescue => e; p e.message; end
e = RuntimeError.new("a")
p e.exception.equal?(e)
p e.exception("b").message
p e == RuntimeError.new("a")
p e == RuntimeError.new("b")
p e.backtrace
p e.inspect
p RuntimeError.new.message
p RuntimeError.new(nil).message
p RuntimeError.new(42).message
p [Detailed.ancestors.take(4), StandardError.superclass, Exception.superclass]
begin
  raise AppError, "bt", ["a:1", "b:2"]
rescue => e
  p e.backtrace
end
p((StopIteration.superclass))
p KeyError.superclass
p FloatDomainError.superclass
p Errno::ENOENT.superclass
p SystemExit.superclass
p Errno::ENOENT.new.message, Errno::ENOENT.new("file").message, Errno::ENOENT::Errno
begin
  raise IOError
rescue => e
  p e.message
end
begin
  Integer("12x")
rescue ArgumentError => e
  p e.message, e.full_message(highlight: false).include?("invalid value")
end
begin; [].fetch(9); rescue IndexError => e; p e.message; end
begin; { a: 1 }.fetch(:b); rescue KeyError => e; p e.message, e.key, e.receiver.size; end
begin; "x" + 1; rescue TypeError => e; p e.message; end
begin; 1 + "x"; rescue TypeError => e; p e.message; end
begin; 1 + nil; rescue TypeError => e; p e.message; end
begin; [1] + nil; rescue TypeError => e; p e.message; end
begin; "abc".freeze << "d"; rescue FrozenError => e; p e.message, e.receiver; end
begin; :a <=> 1; Float("x"); rescue => e; p e.message; end
begin; Comparable.instance_method(:<).bind_call("a", 3); rescue => e; p e.message; end
begin; [3, "a"].sort; rescue => e; p e.message; end
begin; def two(a, b) = 1; two(1); rescue ArgumentError => e; p e.message; end
begin; def kw(a:) = 1; kw; rescue ArgumentError => e; p e.message; end
begin; kw(a: 1, b: 2); rescue ArgumentError => e; p e.message; end
begin; kw(a: 1, b: 2, c: 3); rescue ArgumentError => e; p e.message; end
begin; def kw2(a:, b:) = 1; kw2; rescue ArgumentError => e; p e.message; end
begin; UnknownConstant; rescue NameError => e; p e.message, e.name; end
begin; Math::Nope; rescue NameError => e; p e.message; end
begin; BasicObject.new.inspect; rescue NoMethodError => e; p e.name; end
