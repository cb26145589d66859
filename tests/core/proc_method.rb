pr = proc { |a, b = 2, *c, d, e:, f: 6, **g, &h| }
p pr.arity
p pr.parameters
p pr.lambda?
p lambda { |a, b| }.arity
p proc { |a| }.arity
p proc { |*a| }.arity
p lambda { |a, b = 1| }.arity
p lambda { |a:| }.arity
p lambda { |a: 1| }.arity
p proc { |(a, b), c| }.arity
p(-> {}.arity)
p proc {}.arity
p proc { |a,| }.arity
p proc { |a,| }.parameters
add = ->(a, b) { a + b }
p add.curry[1][2]
p add.curry.(1).(2)
p add.to_proc.equal?(add)
p((add >> ->(x) { x * 2 }).(1, 2))
p((->(x) { x + 1 } << ->(x) { x * 10 }).call(3))
p add.method(:call).call(1, 2), add.yield(1, 2), ->(x) { x > 1 } === 2
p proc { |x, y| [x, y] }.call([1, 2])
p proc { |x| x }.call(1, 2)
p lambda { |*x| x }.call([1])
p proc { |x, *y| [x, y] }.call([1, 2, 3])
p proc { |x, k: 1| [x, k] }.call(5, k: 2)
p proc { |a, (b, c)| [a, b, c] }.call(1, [2, 3])
p [[1, 2]].map { |a, b| [a, b] }
p [[1, 2]].map(&->(a) { a })
p(([[1, 2]].map(&->(a, b) { a }) rescue "arity"))
p [[1, [2, 3]]].each { |a, (b, c)| p c }
def meth(a, b = 1, *c, k:, &d) = [a, b, c, k]
m = method(:meth)
p m.arity
p m.parameters
p m.call(1, k: 2)
p m.to_proc.call(1, 2, 3, k: 4)
p m.unbind.class
p m.owner
p m.name
p m.receiver.equal?(self)
x = 10
pr2 = proc { x += 1 }
pr2.call; pr2.()
p x
p pr2.binding.local_variable_get(:x)
p pr2.curry.class
p pr2.hash == pr2.hash
p pr2 == pr2.dup
p pr2.inspect.include?("proc_method.rb")
p lambda {}.inspect.include?("(lambda)")
def yielder = yield(1, 2)
p yielder { |a| a }
p yielder { |a, b, c| [a, b, c] }
p yielder(&:+)
p yielder(&add)
def block_to_proc(&b) = b
b = block_to_proc { |v| v.to_s }
p b.call(5)
p [1, 2].map(&b)
p block_to_proc.inspect
p block_to_proc(&:upcase).call("a")
p block_to_proc(&b).equal?(b)
p :+.to_proc.call(1, 2)
counter = Enumerator.new { |y| 3.times { |i| y << i } }
p counter.next
p counter.next
p counter.size
p counter.with_index.to_a
p counter.each_slice(2).to_a
p((proc { |;z| z = 1 }).call)
p proc { next 4; 5 }.call
p [1, 2, 3].each_with_index.inject(0) { |s, (a, i)| s + a * i }
