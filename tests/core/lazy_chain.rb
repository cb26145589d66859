# A chain with something lazy in it is lazy.
p ([1].lazy + (2..).lazy).select { true }.first(3) #=> [1, 2, 3]
p ([1].lazy + [2]).class, [1].chain([2].lazy).class, ([1].each + [2]).class, (([1].each + [2]) + [3].lazy).class
p Enumerator::Chain.new([1], [2].lazy).class
