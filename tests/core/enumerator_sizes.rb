# Sizes, names and blocks of Enumerators.
def t
  p yield
rescue StandardError => e
  p [e.class, e.message]
end
chain = [1].to_enum + [2].to_enum
t { Enumerator.instance_methods(false).sort - chain.methods }
product = Enumerator::Product.new([1], [2])
t { Enumerator.instance_methods(false).sort - product.methods }
t { Enumerator::Product.new([], 1..).size }
t { Enumerator::Product.new(nil, []).size }
t { Enumerator::Product.new(1.., "a".."c").size }
t { Enumerator::Product.new([1, 2], [3] * 4).size }
t { Enumerator::Product.new([1], a: 1) }
t { [].to_enum { 0 }.cycle("").size }
t { [].cycle("").size }
t { (1..10).lazy.cycle("").size }
t { [3, 4].cycle(2).size }
e = [1].each
e.next
first = begin; e.peek; rescue StopIteration; $!; end
second = begin; e.next; rescue StopIteration; $!; end
third = begin; e.next; rescue StopIteration; $!; end
p first.cause, second.cause.equal?(first), third.cause.equal?(first), second.equal?(first), third.result
t { (1..10).lazy.map {}.collect {}.flat_map {}.collect_concat {}.select {}.find_all {}.reject {}.filter {}.filter_map {}.inspect }
t { (1..10).lazy.each_with_index.inspect }
t { [1, 2, 3].lazy.to_enum.to_a }
source = Object.new.extend(Enumerable)
def source.each(*args) = (p args; yield 1; yield 2)
t { source.lazy.each(4).first }
t { source.lazy.each(4).map { _1 + 1 }.to_a }
t { [1].each_with_index.cycle(2, &->(a, b) { p [a, b] }) }
t { {a: 1}.cycle(2, &->(a, b) { p [a, b] }) }
t { [1].each_with_index.zip([3], &->(a, b) { p [a, b] }) }
class Two; include Enumerable; def each = (yield 1; yield 1, 2); end
t { Two.new.zip([3, 4], &->(a, b) { p [a, b] }) }
$stderr = $stdout
{a: 1}.any?([:a, 2]) { }
{a: 1}.all?([:a, 2]) { }
{a: 1}.none?([:a, 2]) { }
Two.new.inject(1, :+) { } rescue p $!.class
