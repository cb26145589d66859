# A trace that begins inside a native call is told of what its callers do afterwards.
def lines
  found = []
  trace = TracePoint.new(:line) { |tp| found << tp.lineno - $first if tp.path == __FILE__ }
  yield trace
  trace.disable
  p found.size, found.take(3)
end

$first = __LINE__ + 1
lines do |trace|
  eval "trace.enable", binding, "elsewhere"
  one = 1
  two = [one].map { |x| x + 1 }
end

$first = __LINE__ + 1
lines do |trace|
  [1].each { trace.enable }
  one = 1
end

$first = __LINE__ + 1
lines do |trace|
  trace.send(:enable)
  one = 1
end

# And one that ends there is told of nothing more.
$first = __LINE__ + 1
lines do |trace|
  trace.enable
  one = 1
  [1].each { trace.disable }
  two = 2
end

# The caller's caller, too.
def inner(trace)
  [trace].each(&:enable)
  inside = 1
end
$first = __LINE__ - 4
lines do |trace|
  [1].each { inner(trace) }
  outside = 2
end
