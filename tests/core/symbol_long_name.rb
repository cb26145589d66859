# The name of a Symbol is the same String each time, a long one, too.
x = ("a" * 200).to_sym
p x.name.equal?(x.name), x.name.frozen?, x.name == "a" * 200
p ("a" * 200).to_sym.name.equal?(x.name)
z = ("é" * 100).to_sym
p z.name.equal?(z.name), z.name.encoding
n = x.name
GC.start
p n.equal?(x.name)
p ("b" * 100_000).to_sym.name.frozen?
p :short.name.equal?(:short.name)
