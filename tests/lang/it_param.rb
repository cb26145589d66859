p [1, 2].map { it * 2 }
p %w[a b].map { it }
l = -> { it + 1 }
p l.(4), l.arity
it = 7
p it
