# The end of a builtin that runs when its trace begins is told, once, with its value, where the program called it.
def traced
  told = []
  trace = TracePoint.new(:c_return) { |tp| told << [tp.method_id, tp.callee_id, tp.return_value.class, tp.lineno - __LINE__] }
  yield trace
  trace.disable
  told.reject { |name,| name == :disable }
end

class Starts
  def initialize(trace) = @trace = trace
  def to_str
    @trace.enable
    "text"
  end
end

alias text String
p(traced { |trace| text(Starts.new(trace)); trace.disable })
p(traced { |trace| [1].each { trace.enable }; trace.disable })
p(traced { |trace| x = [2, 1].map { |i| [i].each { trace.enable unless trace.enabled? } }; trace.disable; x })
# One that an exception leaves returns nil.
p(traced { |trace| [1].each { trace.enable; raise "over" } rescue trace.disable }.select { |name,| name == :each })
def within(trace) = [1].map { [2].each { trace.enable; raise "over" } }
p(traced { |trace| begin; within(trace); rescue; trace.disable; end }.map(&:first) & %i[each map])
p(traced { |trace| begin; [1].each { trace.enable; break }; end; trace.disable })
