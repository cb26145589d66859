# frozen_string_literal: true
# Frozen literals of the same content are one String: in other methods, in keys of Hashes, by `freeze` and `-`.
def one = "an interned literal"
def other = "an interned literal"
p one.equal?(other)
h = { "an interned literal" => 1, "b" => 2 }
i = { "an interned literal" => 3, "c" => one }
p h.keys[0].equal?(i.keys[0]), h.keys[0].equal?(one)
p eval(%q("an interned literal".freeze)).equal?(one), (-String.new("an interned literal", encoding: "UTF-8")).equal?(one)
p ["an interned literal", :a].first.equal?(one)
case one
when "an interned literal" then p :found
end
p "an interned literal".dup.equal?(one), "an #{"interned"} literal".equal?(one)
