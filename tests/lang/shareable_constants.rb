# What `# shareable_constant_value` asks of values, and what it makes of them.
def try(text)
  p eval(text)
rescue Ractor::Error => e
  puts "#{e.class}: #{e.message}"
end

def literal(text) = try("# shareable_constant_value: literal\n#{text}")

literal "A1 = ['a' + 'b']"
literal "x = [1]; A2 = x"
literal "A3 = begin [] end"
literal 'A4 = [1, "a#{3}"]; A4[1].frozen?'
literal "A5 = Object.new"
literal "A6 = 3 + 3"
literal "A7 = [3.to_s.freeze, [1], {a: [1]}, 1..2, A6, String]; A7.map(&:frozen?)"
literal "A8 = {a: [3.to_s]}"
literal "A9 = [*[1]]"
literal "A10 = -> { 1 }"
literal "A11 = 3.to_s..4.to_s"
literal "A12, A13 = [1], [3.to_s]"
literal "module M; A14 = [3.to_s]; end"
literal "module M; A14 = [[1, 'x']]; end; Ractor.shareable?(M::A14)"
literal "M::A15 = [3.to_s]"
literal "::A16 = [3.to_s]"
literal "::M::A17 = [3.to_s]"
literal "self.class::A18 = [3.to_s]"
literal "A19 = `echo`"
literal 'A20 = ["a", :a, 1, 1.0, /a/, nil, true, ["b"], {"a" => "b"}, __FILE__, 1..2, "a".."b", self.class, (1)]; Ractor.shareable?(A20)'
literal "A21 = ('a')"
literal "A22 = {a: 1, **{b: 'c'}}"
literal "A23 = true ? [1] : [2]"
literal 'A24 = /a#{1}/; A24'
literal "A25 = %w[a b]; Ractor.shareable?(A25)"
literal "A26 = A27 = [1]; Ractor.shareable?(A26)"
literal "A28 = [[1, [2, 3.to_s]]]"
literal "A29 = x = [1]"
literal "A30 = ['a'].freeze"
literal "A31 = (1..3).map { _1 }.freeze; A31"

try "# shareable_constant_value: experimental_copy\nx = [['a']]; B1 = x; [Ractor.shareable?(B1), x.frozen?, x == B1]"
try "# shareable_constant_value: experimental_everything\nx = [['a']]; B2 = x; [Ractor.shareable?(B2), x.frozen?, x.equal?(B2)]"
try "# shareable_constant_value: experimental_everything\nB3 = [Object.new]; Ractor.shareable?(B3)"
