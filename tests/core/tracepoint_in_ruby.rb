# Builtins that CRuby has in Ruby are called, in a file of its own; the others are `c_call`.
told = []
trace = TracePoint.new(:call, :return, :c_call, :c_return) { |t| told << [t.event, t.method_id, t.path == __FILE__ ? :here : t.path] }
trace.enable
trace.enabled?
tap { 1 }
[1].first
[1].length
loop { break }
1.zero?
Integer("3")
"a".to_sym
[1].pack("C")
trace.disable
p(*told)

# Also where calls alone are wanted; not of a target.
told = []
trace = TracePoint.new(:call) { |t| told << t.method_id }
def foo = tap { }
trace.enable
foo
trace.disable { foo }
foo
trace.disable
p told
told.clear
trace.enable(target: method(:foo)) { foo }
p told

# A method of the program that has the name of one.
class Integer
  def zero? = self == 0
end
told.clear
trace = TracePoint.new(:call, :c_call) { |t| told << [t.event, t.method_id, t.path == __FILE__] if t.method_id == :zero? }
trace.enable { 0.zero? }
p told

# What `raise` raises is told when `raise` is over, after a look for a backtrace.
told.clear
trace = TracePoint.new(:c_call, :c_return, :raise) { |t| told << [t.event, t.method_id] if %i[raise === backtrace].include?(t.method_id) || t.event == :raise }
trace.enable do
  begin
    raise "a"
  rescue RuntimeError
  end
  begin
    begin
      raise ArgumentError
    rescue TypeError, RuntimeError
    end
  rescue ArgumentError => e
    raise e rescue 1
  end
end
p(*told)
