module Shout
  refine String do
    def shout = upcase + "!"
    def length = 99
  end
  refine Integer do
    def double = self * 2
  end
end
begin
  "a".shout
rescue NoMethodError => e
  p e.name
end
using Shout
p "a".shout
p "abc".length
p 4.double
p %w[a b].map(&:shout)
def in_method = "x".shout
p in_method
module Sup
  refine Array do
    def first = [:refined, super]
  end
end
using Sup
p [1, 2].first, "abc".size
