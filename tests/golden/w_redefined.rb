def a(x) = x
def a = 1
class C
  attr_reader :v
  def v = 2
  def kept = 1
  alias old kept
  def kept = 2
  define_method(:d) { 1 }
  define_method(:d) { 2 }
  def self.s = 1
  def self.s = 2
  undef v
  def v = 3
end
p C.new.v
