# Without a block, each of a chain and of a product is a plain Enumerator.
ch = [1].each + [2].each
e = ch.each
p e.class, e.next, e.next
begin
  e.next
rescue StopIteration
  p $!.message
end
p ch.each.peek, ch.each.to_a, ch.each.with_index.to_a, ch.each.equal?(ch)
e = ch.each
e.next
e.rewind
p e.next, e.peek
p (([1].each + [2].each) + [3]).each.next, [1].chain([2]).each.next, ch.each(&:to_s).equal?(ch)
p (ch.respond_to?(:next))
product = Enumerator::Product.new([1, 2], [3])
p product.each.class, product.each.next, product.each.to_a, product.respond_to?(:next)
sum = [1].each + {a: 2}
p sum.class, sum.inspect, sum.size, sum.to_a, (sum + [3]).inspect, ([1].each + 5).inspect
p ([1].lazy + [2]).class, ([1].each + [2].lazy).class, ([1].lazy + [2]).map { |x| x * 2 }.to_a, ([1].each + 5.times).size, ([1].each + [2].each_slice(2)).size
p (([1].each + 7).to_a rescue $!.class), sum.frozen?, sum.dup.to_a
class Enumerator::Chain
  def initialize(*) = raise("nobody asked")
end
p ([1].each + [2]).to_a
