# Jumps out of hot loops and through machine code: break, next, redo, retry, return, throw, raise, ensure.
def breaks(n) = n.times { |i| break i * 2 if i == n - 5 }
def nexts(n)
  s = 0
  n.times { |i| next if i.odd?; s += i }
  s
end
def redos(n)
  s = 0
  again = 0
  n.times { |i| s += 1; if i % 500 == 0 && again < 5 then again += 1; redo end }
  s
end
def retries(n)
  tries = 0
  begin
    i = 0
    while i < n
      i += 1
      raise "again" if i == n / 2 && (tries += 1) < 4
    end
  rescue RuntimeError
    retry
  end
  [tries, i]
end
def returns(n)
  n.times { |i| [1, 2, 3].each { |v| return [i, v] if i == n - 3 && v == 2 } }
  :none
end
def throws(n) = catch(:done) { n.times { |i| deeper(i) { throw :done, i if i == n - 7 } }; :none }
def deeper(i) = i.times.first(1).each { yield } && yield
def ensures(n)
  log = 0
  n.times do |i|
    begin
      next if i % 3 == 0
      break if i == n - 2
    ensure
      log += 1
    end
  end
  log
end
def rescues(n)
  s = 0
  n.times do |i|
    s += Integer(i % 50 == 0 ? "x" : "1")
  rescue ArgumentError => e
    s += e.message.size
  else
    s += 1
  ensure
    s += 2
  end
  s
end
def own_jumps(n)
  l = ->(x) { return x + 1 }
  pr = proc { |x| next x + 2 }
  s = 0
  n.times { |i| s += l.(i) + pr.call(i) }
  s
end
def each_in_each(n)
  out = []
  (0...n).each do |i|
    r = [5, 6, 7].each_with_index { |v, j| break v * j if j == i % 4 }
    out << r if i % 700 == 0
    r = [1, 2].map { |v| next 0 if v == 1; v + i }
    out << r if i % 900 == 0
  end
  out
end
def while_value(n)
  i = 0
  v = while true
    i += 1
    break i if i > n
  end
  w = while i > 0
    i -= 1
  end
  u = begin
    i += 1
  end while i < 10
  [v, w, u, i]
end
def raise_in_callee(i)
  raise TypeError, "at #{i}" if i % 600 == 599
  i
end
def raised(n)
  s = 0
  messages = []
  i = 0
  while i < n
    begin
      s += raise_in_callee(i)
    rescue TypeError => e
      messages << [e.message, e.backtrace.first[/\d+:in/], e.backtrace[1][/\d+:in/]]
    end
    i += 1
  end
  [s, messages]
end
def overflow(n)
  a = 1
  n.times { |i| a = a * 3 + i; a = 1 if a > 2**80 }
  b = 4611686018427387000
  n.times { b += 1 }
  c = -4611686018427387000
  n.times { c -= 1 }
  [a, b, c, (1 << 61) * 2, -(-4611686018427387904), 4611686018427387903.succ, -4611686018427387904 / -1]
end
def division(n)
  z = []
  (-n..n).each { |i| z << i if (10 / i rescue 77) == 77 }
  s = 0
  (-n..n).each { |i| s += i / 7 + i % 7 + i / -7 + i % -7 + i.fdiv(3).floor + i / 8 + i % 8 }
  [z, s]
end
%i[breaks nexts redos retries returns throws ensures rescues own_jumps each_in_each while_value raised overflow division].each do |m|
  puts "#{m} #{send(m, 2400).inspect}"
end
# A loop that is left by an exception from `<=>`, `each`, `coerce` and `==` written in Ruby.
class Odd
  def coerce(o) = o == 1500 ? raise("coerced") : [o, 2]
  def ==(o) = o == 1600 ? raise("equal") : false
  def <=>(o) = raise("compared")
  include Comparable
end
odd = Odd.new
i = 0
begin
  while i < 3000
    i += odd ? 1 : 2
    i + odd
  end
rescue => e
  p i, e.message
end
begin
  while i < 3000
    i += 1
    odd == i
  end
rescue => e
  p i, e.message
end
p((odd < 1 rescue $!.message))

# A block of a loop that comes to no end of its own: it returns, or an exception in it is rescued.
def first_open(list, found)
  list.each do |x|
    begin
      raise ArgumentError if x.odd?
      return found
    rescue ArgumentError
    end
  end
  :none
end
p 20.times.map { |i| first_open([1, 3, 4], i) }.sum, first_open([1], 2)
def rounds(list)
  seen = []
  list.map { |x| begin; seen << x; Integer(x); break seen; rescue ArgumentError; seen << :no; next; end }
end
p 20.times.map { rounds(%w[a b 3 c]).size }.uniq, rounds(%w[a])
