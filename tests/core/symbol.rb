p :abc.to_s
p :abc.length
p :abc.size
p :abc.upcase
p :Abc.swapcase
p :abc.capitalize
p :abc <=> :abd
p :abc == :abc
p :abc[1]
p :abc[0, 2]
p :abc.succ
p :upcase.to_proc.call("x")
p %i[b a c].sort
p :abc.start_with?("a")
p :abc.end_with?("c")
p :a.empty?
p :"".empty?
p :abc.encoding.to_s
p :"é".encoding.to_s
p :abc =~ /b/
p :abc.match(/b/)[0]
p :abc.match?(/z/)
p "abc".to_sym.equal?(:abc)
p "a b".intern
p :a.frozen?
p :a.hash == :a.hash
p :abc.inspect
p :abc.id2name
p %w[a b].map(&:to_sym)
p %w[x y].map(&:upcase)
p [[1, 2], [3]].map(&:size)
p [1, 2, 3].inject(&:+)
p :a.to_proc.lambda?
p :a.to_proc.arity
p Symbol === :a
p((Symbol.new rescue $!.class))
p :a.casecmp(:A)
p :a.casecmp?(:A)
p :a.to_sym.equal?(:a)
p :abc.name
