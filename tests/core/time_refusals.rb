# An offset of minus zero is not known, which is UTC; what Time refuses and warns of; blocks that a curried Proc has no use for yet.
t = Time.gm(2000)
p %w[-0000 -00:00 -00:00:00 -00 +00:00 +0000 UTC Z].map { |o| t.getlocal(o).utc? }
p Time.new(2000, 1, 1, 0, 0, 0, "-00:00").utc?, Time.at(0, in: "-0000").utc?, t.dup.localtime("-00").inspect
begin
  Time.now.send(:initialize, 2013, 3, 14)
rescue TypeError => e
  puts e.message
end

$VERBOSE = true
$stderr = $stdout
p t.strftime("")
sum = lambda { |x, y, &block| block.call(x + y) }
step = sum.curry.call(2) { raise }
p step.call(3) { |x| x * 10 }
p proc { |x, y| [x, y] }.curry.call(1) { raise }.call(2) { raise }
$VERBOSE = false
p sum.curry.call(2) { raise }.call(3) { |x| x }
