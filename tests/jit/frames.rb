# What looks at frames sees them as ever: caller, backtraces with lines, binding, __method__, block_given?, local variables.
def where = caller(1, 3).map { |l| l[/frames.rb:(\d+)/, 1] }
def inner(i)
  i == 1500 ? where : nil
end
def outer(n)
  found = nil
  n.times do |i|
    found ||=
      inner(i)
  end
  found
end
p outer(2000)
def lines(n)
  i = 0
  out = []
  while i < n
    out << __LINE__ if i == n - 1
    begin
      Integer("x") if
        i % 1000 == 999
    rescue ArgumentError
      out << $!.backtrace.find { |l| l.include?("lines") }[/rb:(\d+)/, 1]
    end
    nil.foo if i == n - 1
    i += 1
  end
rescue NoMethodError => e
  out << e.backtrace_locations.first.lineno << e.name
end
p lines(3000)
def bound(n)
  a = 1
  b = "x"
  c = 0.5
  n.times do |i|
    a += i
    c += 0.25
    if i == n - 1
      k = binding
      p k.local_variables.sort, k.local_variable_get(:a), k.local_variable_get(:c), k.eval("i + a")
      k.local_variable_set(:a, 7)
      k.eval("b = 9")
    end
  end
  [a, b, c]
end
p bound(2000)
def from_outside(n)
  a = 0
  r = binding
  n.times { |i| a += 1; r.local_variable_set(:a, 0) if i == n / 2 }
  a
end
p from_outside(2001)
def given(n) = n.times.count { block_given? }
p given(1000), given(1000) {}
def named(n) = (s = 0; n.times { s += __method__.size }; s)
alias renamed named
p named(1000), renamed(1000)
def last_match(n)
  out = []
  n.times { |i| out << [$~ && $~[0], i] if i % 900 == 5; "a#{i}b" =~ /\d+/ if i % 4 == 0 }
  out
end
p last_match(2000)
def blocks_kept(n)
  list = []
  n.times { |i| list << -> { i += 1 } if i % 500 == 0 }
  list.map(&:call) + list.map(&:call)
end
p blocks_kept(2000)
def shared(n)
  x = 0
  add = -> { x += 1 }
  n.times { add.call; x += 1 }
  x
end
p shared(2000)
def super_calls(n) = Class.new(Class.new { def m(i) = i + 1 }) { def m(i) = super + 1 }.new.then { |o| s = 0; n.times { |i| s += o.m(i) }; s }
p super_calls(1000)
def keywords(a, b: a + 1, **rest) = a + b + rest.size
p 2000.times.sum { |i| i.odd? ? keywords(i, b: 1, c: 2) : keywords(i) }
def splat(*a, k: 0) = a.sum + k
p 2000.times.sum { |i| splat(*[i] * (i % 4), k: 1) }
def defaults(a, b = a * 2, c = b + 1) = a + b + c
p 2000.times.sum { |i| i % 3 == 0 ? defaults(i) : defaults(i, 1) }
$line = nil
at_exit { p $line }
def deep(n) = n == 0 ? ($line = caller_locations.size) : deep(n - 1)
200.times { deep(40) }
