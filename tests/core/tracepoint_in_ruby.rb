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
