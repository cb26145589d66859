p [1, 2].map { _1 + 1 }, [[1, 2]].map { _1 }, [[1, 2]].map { _1 + _2 }, [3, 4].each_with_index.map { _1 * _2 }
l = -> { _1 * 2 }
p l.(4), l.arity, proc { _1 }.arity, proc { [_1, _2] }.arity, lambda { [_1, _2] }.arity
p proc { _1 }.call([1, 2]), proc { [_1, _2] }.call([1, 2])
