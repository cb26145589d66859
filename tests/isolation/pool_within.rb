# A pool that is closed, shut down or waited for from within its own work.
def tried
  yield
rescue RubyVM::Pool::Error => e
  puts "#{e.class}: #{e.message}"
end

def pool = RubyVM::Pool.new(size: 2, name: "within")

puts "-- the source of a map closes"
q = pool
tried { q.map([1, 2, 3].lazy.map { |x| q.close if x == 2; x }) { |x| x } }
p q.closed?, q.map([4]) { |x| x }
tried { q.each(Enumerator.new { |out| out << 1; Fiber.new { q.close }.resume }) { |x| x } }
# One that goes on by itself.
p q.map([1, 2].lazy.map { |x| q.submit { 3 }.value + q.map([x]) { |y| y }.sum }) { |x| x }
q.close

puts "-- it shuts down"
q = pool
tried { q.map([1, 2, 3].lazy.map { |x| q.shutdown if x == 2; x }) { |x| x } }

puts "-- that of a stream, and who takes from it"
q = pool
tried { q.stream([1, 2, 3].lazy.map { |x| q.close if x == 2; x }) { |x| x }.to_a }
# What was fed by then is done; how much that is is the pool's to say.
q = pool
begin
  q.stream(1.step) { |x| x }.each { |x| q.close if x == 2 }
rescue RubyVM::Pool::ClosedError => e
  puts e.message
end
q = pool
tried { q.stream(1..1000) { |x| x }.each { |x| q.shutdown if x == 2 } }

puts "-- another thread closes meanwhile"
q = pool
closed = nil
p q.map([1, 2, 3].lazy.map { |x| (closed ||= Thread.new { q.close }) && sleep(0.01); x }) { |x| x }
p closed.value.equal?(q)

puts "-- exceptions whose methods fail"
class Backtrace < StandardError; def backtrace = raise("no backtrace"); end
class NoArray < StandardError; def backtrace = 5; end
class Named < StandardError; def self.name = raise("no name"); end
class Classed < StandardError; def class = raise("no class"); end
class Caused < StandardError; def cause = raise("no cause"); end
class All < StandardError; def message = raise("no message"); def class = raise("no class"); def backtrace = raise("no backtrace"); end
# Also where they are raised by what objects do when they travel.
class Goes; def marshal_dump = raise(All); def marshal_load(_) = nil; end
class Comes; def marshal_dump = 1; def marshal_load(_) = raise(All); end
q = RubyVM::Pool.new(size: 1)
[Backtrace, NoArray, Named, Classed, Caused, All].each { |kind| tried { q.map([1]) { raise kind, "text" } } }
[Goes, Comes].each do |kind|
  q.map([kind.new, 1], errors: :return) { 1 }.each { |value| puts value }
  q.map([1, 2], errors: :return) { |n| n == 1 ? kind.new : n }.each { |value| puts value }
end
p q.report.restarts
q.close
