# Optimised instructions must notice redefinition, and the return of the original.
class Array
  alias orig_size size
  def size = 42
end
p [1].size
class Array; alias size orig_size; end
p [1].size
class String
  alias orig_eq ==
  def ==(o) = :redefined
end
r = ("a" == "a")
class String; alias == orig_eq; end
p r, "a" == "a"
class Integer
  alias orig_plus +
  def +(o) = orig_plus(o).orig_plus(1)
  alias orig_times times
  def times = :no
end
r = [1 + 1, 3.times]
class Integer
  alias + orig_plus
  alias times orig_times
end
p r, 1 + 1
class Float
  alias orig_mul *
  def *(o) = "mul"
end
r = 2.0 * 3
class Float; alias * orig_mul; end
p r, 2.0 * 3
class Hash
  alias orig_get []
  def [](k) = "got #{k}"
end
r = { a: 1 }[:a]
class Hash; alias [] orig_get; end
p r, { a: 1 }[:a]
class NilClass
  alias orig_nil nil?
  def nil? = :hm
end
r = nil.nil?
class NilClass; alias nil? orig_nil; end
p r, nil.nil?
