p [1, 2].map { _1 + 1 }
p [[1, 2]].map { _1 }
p [[1, 2]].map { _1 + _2 }
p [3, 4].each_with_index.map { _1 * _2 }
l = -> { _1 * 2 }
p l.(4)
p l.arity
p proc { _1 }.arity
p proc { [_1, _2] }.arity
p lambda { [_1, _2] }.arity
p proc { _1 }.call([1, 2]), proc { [_1, _2] }.call([1, 2])
