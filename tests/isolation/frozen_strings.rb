# Deduplicated strings and symbols: equal everywhere, and nobody's ivar or change shows elsewhere.
require_relative "support/pair"
pair(<<~'RUBY')
  s = -"dedup"
  same = s.equal?(-"dedup")
  t = +"dedup"
  t << me.to_s
  both.()
  out << [same, -"dedup", t, :sym, :"made here by #{me}"]
RUBY
p -"dedup"
