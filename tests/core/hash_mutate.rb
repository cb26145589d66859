h = {}
h[:a] = 1; h.store("s", 2); h[:a] = 9
p h.to_a
p h.delete(:a)
p h.delete(:zz)
p h.delete(:zz) { |k| "no #{k}" }
p h.to_a
h.merge!({ x: 1 }, { y: 2, x: 3 }) { |k, o, n| [o, n] }
p h.to_a
p h.update(z: 5).size
p h.merge({ x: 0 }).to_a
p h.merge.equal?(h)
p h.shift
p h.to_a
p h.reject! { |k, v| v == 5 }.to_a
p h.reject! { false }
p h.select! { true }
p h.keep_if { |k, v| k == :y }.to_a
p h.delete_if { false }.to_a
p h.replace({ q: 1, r: 2 }).to_a
p h.transform_values!(&:to_s).to_a
p h.transform_keys!(&:to_s).to_a
p h.compact!
p h.clear.to_a
p h.shift
d = Hash.new(0)
"hello".each_char { |c| d[c] += 1 }
p d.to_a
p d[:none]
p d.key?(:none)
p d.default
p d.fetch(:none, 1)
p((d.default = 7))
p d[:q]
p d.dig(:q)
b = Hash.new { |hash, k| hash[k] = k * 2 }
p b[4]
p b.to_a
p b.key?(5)
p b.default_proc.class
p b.default
p b.default(3)
p b.to_a
n = Hash.new { |hh, k| hh[k] = Hash.new(0) }
n[:a][:b] += 1
p n[:a].to_a
begin
  z = { a: 1, b: 2 }
  z.each { |k, v| z[:new] = 1 }
rescue RuntimeError => e
  p e.message
end
y = { a: 1, b: 2, c: 3 }
y.each { |k, v| y.delete(k) if v == 2 }
p y.to_a
y.each { |k, v| y[k] = v * 10 }
p y.to_a
k = [1]
w = { k => :v }
k << 2
p w[k]
p w[[1]]
p w.rehash[k]
p w.to_a
i = {}.compare_by_identity
i["a"] = 1; i["a".dup] = 2; i[:s] = 3; i[:s] = 4
p i.size, i.compare_by_identity?, i[:s]
o = { b: 1, a: 2 }
o[:c] = 3; o.delete(:b); o[:b] = 4
p o.keys
p o.sort.to_h.keys
p o.min_by { |_, v| v }
p o.sum { |_, v| v }
p o.sort_by { |k, v| -v }.first
p o.to_a.transpose
p o.any? { |k, v| v > 3 }
p o.find { |k, v| v == 3 }
p o.each_with_index.to_a
p o.dup.tap { |q| q.delete(:a) }.size
p o.size
p o.freeze.frozen?
begin; o[:z] = 1; rescue => e; p e.class; end
s = +"key"; hs = { s => 1 }; s << "x"; p hs["key"], hs.keys[0].frozen?
big = {}
1000.times { |j| big[j] = j; big["s#{j}"] = j; big[j.to_f + 0.5] = j }
p big.size
p big[999]
p big["s500"]
p big[3.5]
p big.count { |kk, v| v == 7 }
p big.keys.first(3)
500.times { |j| big.delete(j) }
p big.size
p big.keys.first
p big[499]
p big[500]
p big.values.sum
p({ 1 => :a, 1.0 => :b, 2**70 => :c }[1.0], { 1 => :a }[1.0], { 2**70 => :c }[2**70], { nil => 1 }[nil], { [1, [2]] => 3 }[[1, [2]]], { 0.0 => 1 }[-0.0], { "a" => 1 }["a".b])
