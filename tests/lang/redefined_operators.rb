# Redefined operators of core classes: each is seen at once, wherever it comes from, and the other classes keep theirs.
def bits(n) = [n[0], n[1], n[62], n[63], n[64], n[1000], n[-1]]
p bits(5), bits(-1), bits(2**61), bits(-2**61), 6[1] + 6[2]

# Each in a VM of its own, so that one leaves nothing to the next.
def alone(label, source)
  RubyVM.new("v", "-e", "result = begin\n#{source}\nend\nputs \"#{label}: \#{result.inspect}\"").start.join
end

alone "Integer#+", "class Integer; def +(o) = 42; end\n[1 + 1, 1.5 + 1.5, 3 - 1, [1] + [2]]"
alone "Integer#[]", "class Integer; def [](i) = :bit; end\n[5[0], [7][0], { 0 => 8 }[0]]"
alone "Float#<", "class Float; def <(o) = :less; end\n[1.0 < 2.0, 1 < 2]"
alone "String#==", "class String; def ==(o) = true; end\n['a' == 'b', 1 == 2, :a == :b]"
alone "Array#[]", "class Array; def [](i) = :element; end\n[[1][0], { 0 => 2 }[0], 5[0]]"
alone "Hash#[]=", "class Hash; def []=(k, v); store(k, [v]); end; end\nh = {}\nh[1] = 2\na = []\na[0] = 3\n[h, a]"
alone "Array#<<", "class Array; def <<(x) = push(x, x); end\n[[] << 1, 1 << 2]"
alone "Array#size", "class Array; def size = -1; end\n[[1].size, { 1 => 2 }.size, [1].length]"
alone "prepended", "module M; def +(o) = super.succ; end\nInteger.prepend(M)\n[1 + 1, 2.0 + 1.0]"
alone "included: no effect", "module M; def -(o) = 0; end\nInteger.include(M)\n[5 - 2]"
alone "later in a prepended module", "module M; end\nInteger.prepend(M)\na = 5 * 2\nmodule M; def *(o) = :mine; end\n[a, 5 * 2, 2.0 * 2.0]"
alone "module in a prepended module", "module A; def /(o) = :a; end\nmodule M; include A; end\nInteger.prepend(M)\n[5 / 2, 5.0 / 2]"
alone "Object#==: Integer has its own", "class Object; def ==(o) = :mine; end\n[1 == 1, Object.new == 1]"
alone "Comparable#>", "module Comparable; def >(o) = :mine; end\n[1 > 0, 'a' > 'b']"
alone "removed", "class Integer; remove_method(:-); end\n(1 - 1 rescue $!.class)"
alone "undefined", "class Integer; undef_method(:&); end\n(3 & 1 rescue $!.class)"
alone "aliased", "class Integer; alias_method(:+, :-); end\n[5 + 3, 5.0 + 3.0]"
alone "nil?", "class NilClass; def nil? = :no; end\n[nil.nil?, 1.nil?]"
alone "nil? of a subclass", "class S < String; def nil? = :s; end\n[S.new.nil?, ''.nil?]"
alone "! of a Range", "class Range; def ! = :range; end\nr = (1..2)\n[!r, !nil]"
alone "! by a module", "module N; def ! = :n; end\nclass S < Array; include N; end\n[!S.new, ![]]"
alone "nil? of a plain class", "class Null; def nil? = true; end\n[Null.new.nil?, nil.nil?, 1.nil?]"
alone "<=> in sort", "class Integer; def <=>(o) = o.to_s.size - to_s.size; end\n[[1, 22, 333].sort, [1, 22, 333].max]"
alone "Hash#each", "class Hash; def each = yield([:x, 1]); end\n[{ a: 2 }.map { |k, v| [k, v] }]"
alone "refined", "module R; refine(Integer) { def +(o) = :refined }; end\nmodule U; using R; X = 1 + 1; end\n[U::X, eval('1 + 1', TOPLEVEL_BINDING)]"
alone "ne by eq", "class Symbol; def ==(o) = true; end\n[:a != :b, :a == :b, nil == false]"
alone "unary minus", "class Integer; def -@ = :minus; end\nx = 5\ny = 5.0\n[-x, -y]"
alone "== of a String's subclass", "class S < String; def ==(o) = true; end\n[[S.new].include?(1), [S.new] == [2], S.new == 3, S.new != 3]"
p 1 + 1, 5[0], "a" == "b", nil.nil?
