e = ArgumentError.new("msg")
p e.message
p e.to_s
p e.inspect
p e.backtrace
p e.cause
p e.full_message(highlight: false).include?("msg (ArgumentError)")
p ArgumentError.new.message
p StandardError.new(nil).message
p StandardError.new(:sym).message
p e.exception.equal?(e)
p e == ArgumentError.new("msg")
p RuntimeError.new("") .inspect
class MyE < StandardError
  def initialize(a, b = 2)
    @a = a
    super("a=#{a} b=#{b}")
  end
  attr_reader :a
end
begin; raise MyE.new(1); rescue MyE => x; p x.message, x.a, x.backtrace.class, x.backtrace_locations.first.lineno; end
begin
  begin; raise "a"; rescue => a; raise "b"; end
rescue => b
  p b.cause.message, b.cause.equal?(a)
end
p [NameError, NoMethodError, KeyError, StopIteration, FrozenError, FloatDomainError, ZeroDivisionError, SystemStackError, NoMatchingPatternKeyError, LoadError, NotImplementedError, SyntaxError, UncaughtThrowError, EOFError, Errno::EACCES, FiberError, ThreadError, ClosedQueueError, EncodingError, RegexpError, SecurityError, Interrupt, SignalException].map(&:superclass)
begin; raise "with bt", cause: e; rescue => x; p x.cause.message; end
begin; raise TypeError.new("t"), "override"; rescue => x; p x.message; end
begin; raise IOError, "io", ["f:1:in x", "g:2"]; rescue => x; p x.backtrace; end
begin; [1].fetch(5); rescue IndexError => x; p x.message, x.full_message(highlight: false, order: :top).lines.first.include?("index 5"); end
begin; exit!; rescue SystemExit; end if false
begin; Integer("q"); rescue => x; x.set_backtrace(["z:1"]); p x.backtrace; end
begin; raise Exception, "base"; rescue StandardError; p :no; rescue Exception => x; p x.message; end
begin; nil.foo; rescue NoMethodError => x; p x.name, x.receiver, x.args; end
begin; foo_bar_baz; rescue NameError => x; p x.name, x.receiver.equal?(self); end
begin; Object.const_get(:lower); rescue NameError => x; p x.name; end
begin; raise StopIteration; rescue => x; p x.result; end
begin; loop { raise StopIteration, "x" }; p :loop_ended; end
begin; def kw(a:) = a; kw(b: 1); rescue ArgumentError => x; p x.message; end
p (raise "x" rescue "rescued"), $!
begin; Comparable.new; rescue NoMethodError => x; p x.name; end
begin; BasicObject.new.foo; rescue NoMethodError => x; p x.name; end
begin; raise Class; rescue TypeError => x; p x.message; end
begin; "a".frobnicate(1, 2); rescue NoMethodError => x; p x.args; end
begin; throw :x; rescue ArgumentError => x; p x.message; end
begin; [3, nil].sort; rescue ArgumentError => x; p x.message; end
begin; Hash.new(1) { }; rescue ArgumentError => x; p x.class; end
begin; "x" * -1; rescue ArgumentError => x; p x.message; end
begin; [1] * -1; rescue ArgumentError => x; p x.message; end
begin; :a + 1; rescue NoMethodError => x; p x.name; end
begin; Float("1.x"); rescue ArgumentError => x; p x.message; end
begin; rand(1..); rescue => x; p x.class; end
begin; "abc".to_i(99); rescue ArgumentError => x; p x.message; end
begin; [1, 2].first("x"); rescue TypeError => x; p x.message; end
begin; Array.new(-1); rescue ArgumentError => x; p x.message; end
begin; {}.fetch(:a); rescue KeyError => x; p x.message; end
begin; ENV.fetch("NOPE_NOT_SET"); rescue KeyError => x; p x.message; end
begin; obj = Object.new; def obj.inspect = "OBJ"; obj.instance_variable_get("x"); rescue NameError => x; p x.name; end
