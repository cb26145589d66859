def counter
  n = 0
  [-> { n += 1 }, -> { n }]
end
inc, get = counter
inc.()
inc.()
p get.()
inc2, get2 = counter
inc2.()
p get.(), get2.()
fs = []
3.times { |i| fs << -> { i * 10 } }
p fs.map(&:call)
x = 1
change = -> { x = 2 }
change.()
p x
def nested
  a = 1
  b = lambda do
    c = 2
    lambda do
      a += c
      c += 1
      [a, c]
    end
  end
  f = b.call
  [f.call, f.call, a]
end
p nested
adders = (1..3).map { |i| ->(n) { n + i } }
p adders.map { |f| f.(10) }
i = 0
gs = []
while i < 3
  j = i
  gs << -> { j }
  i += 1
end
p gs.map(&:call)
def with_binding
  secret = 42
  binding
end
b = with_binding
p b.local_variable_get(:secret), b.local_variables
b.local_variable_set(:secret, 1)
p b.eval("secret + 1")
z = 5
define_method(:zed) { z } rescue self.class.send(:define_method, :zed) { z }
p zed
z = 6
p zed
memo = Hash.new { |h, n| h[n] = n < 2 ? n : h[n - 1] + h[n - 2] }
p memo[40]
