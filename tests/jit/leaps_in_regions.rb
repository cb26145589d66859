# Blocks that begin with `break` or `return`, in and below `rescue` and `ensure`: machine code leaves them to the interpreter, which finds where they lead.
def yields(q) = yield(q)
def twice(q) = yields(q) { |y| yield y }
def breaks = yields(1) { |y| break y }
def returns = yields(1) { |y| return y }
def deep_break = twice(2) { |y| break y }
def deep_return = twice(2) { |y| return y }
def in_begin
  begin
    yields(3) { |y| return y }
  ensure
    $ended = true
  end
end
def in_rescue
  yields(4) { |y| break y }
rescue ArgumentError
  0
end
def of_array = [5].each { |y| return y }
def with_variable
  z = 1
  yields(6) { |y| return y + z }
ensure
  z = 2
end
def of_block
  [7].each { |x| yields(x) { |y| break y } }
ensure
  $ended = true
end
%i[breaks returns deep_break deep_return in_begin in_rescue of_array with_variable of_block].each do |name|
  counts = Hash.new(0)
  i = 0
  while i < 60_000
    counts[(begin; send(name); rescue LocalJumpError; $!.message; end)] += 1
    i += 1
  end
  p name, counts
end
c = 0
60_000.times { c += begin; breaks; rescue LocalJumpError; 0; end }
60_000.times { c += begin; returns; rescue LocalJumpError; 0; end }
60_000.times do
  begin
    yields(1) { |y| break y }
  ensure
    c += 1
  end
end
p c, [1, 2].sum { |x| begin; yields(x) { |y| next y * 10 }; ensure; $ended = x; end }
