# What differs between 3.1 and 4.0 in small things.
p (+"abc").bytesplice(0, 1, "X")
p "héllo".byteindex("l"), "héllo".byterindex("l")
p "hello".match(/l/).byteoffset(0)
p [1, 2, 3].each_cons(2) { }.class
p (1..10).overlap?(5..15), (1..3).overlap?(4..5)
p [3, 1, 2].freeze.sort, [[1, 2], [3]].sum([])
p 10.ceildiv(3), -7.ceildiv(2)
p [1, 2, 3, 4, 5].fetch_values(0, 2)
p (+"abc").append_as_bytes("é").bytesize
p MatchData.method_defined?(:bytebegin), Array.method_defined?(:fetch_values)
p Hash.new(capacity: 10).size
p Struct.new(:a, :b).new(a: 1, b: 2).to_a
p "a-b".then { it.upcase }
p Time.utc(2024, 1, 2).deconstruct_keys([:year]), "x".encoding
p Comparable.instance_method(:clamp).arity
p Enumerator.product([1, 2], [3, 4]).to_a
p [1, nil].compact, [0.1, 0.2].sum
