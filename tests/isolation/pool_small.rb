# The ways of a pool once each, small enough for a collection at every safepoint (pool.rb has the rest).
Point = Struct.new(:x)
pool = RubyVM::Pool.new(size: 2, name: "small", grace: 0) { :ready }
p pool.map([1, "two", [3], Point.new(4), nil]) { |object| object }
p pool.map(1..20) { |n| n * n }.sum
p pool.map([1, 0], errors: :return) { |n| 6 / n }.map(&:class)
p pool.each([1, 2]) { |n| n }
p pool.stream(1.step, ahead: 4) { |n| n + 1 }.first(3)
p pool.submit(2, 3) { |a, b| a * b }.value
p pool.map([1]) { RubyVM::Pool.local }
p (pool.map([1]) { exit! 3 } rescue $!.message)
p pool.map([1], retry: 1) { |n| n }
p (pool.map([Mutex.new]) { 1 } rescue $!.message)
p pool.report.restarts, pool.close.closed?
