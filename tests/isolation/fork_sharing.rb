# What is one object in the parent is one object in the child; cycles, identity and object ids stay; so do shared roots of two constants.
A = ["shared"]
B = { list: A, self: nil }
B[:self] = B
A << A
OBJ = Object.new
IDS = { OBJ.object_id => :found }.compare_by_identity
ID = OBJ.object_id
BY_OBJECT = { OBJ => 1, Class.new => 2, [OBJ, :k] => 3, Struct.new(:v).new(OBJ) => 4 }
class OBJ.singleton_class::Inner; end
def OBJ.hi = "hi from #{self.class}"
IDENT = {}.compare_by_identity
KEY = "key"
IDENT[KEY] = 1
TEXT = "x" * 1000
SLICE = TEXT[10, 500]
# Deeper than a native recursion could go; less under a collection at every safepoint.
DEPTH = ENV["ZAKURO_TEST_SCALE"] == "small" ? 2_000 : 50_000
DEEP = DEPTH.times.inject(nil) { |rest, i| [i, rest] }
NAN = Float::NAN
BIG = [2**100, 1r / 3, 2i, 1e300 * 1e10, -0.0]
RANGE = (1..)
FROZEN = "frozen".freeze
ERROR = (raise "kept" rescue $!)
local = { a: A }
vm = RubyVM.fork(local, A) do |given, list|
  TEXT << "y"
  deep = 0
  node = DEEP
  (deep += 1; node = node[1]) while node
  [
    B[:list].equal?(A), A[1].equal?(A), B[:self].equal?(B),
    OBJ.object_id == ID, IDS.key?(ID), BY_OBJECT[OBJ], BY_OBJECT.keys[1].is_a?(Class), BY_OBJECT[BY_OBJECT.keys[1]],
    BY_OBJECT[[OBJ, :k]], BY_OBJECT.values_at(*BY_OBJECT.keys),
    OBJ.hi, IDENT[KEY], IDENT["key"], TEXT.size, SLICE.size, deep == DEPTH, NAN.nan?, BIG, RANGE, FROZEN.frozen?, A.frozen?,
    ERROR.message, ERROR.backtrace.size, given[:a].equal?(A), list.equal?(A), local[:a].equal?(A), given.equal?(local)
  ]
end
p vm.value
p TEXT.size
# An anonymous class travels inside the family, by identity.
K = Class.new { attr_accessor :v }
o = RubyVM.fork { k = K.new; k.v = [1]; k }.value
p o.class.equal?(K), o.v
p RubyVM.fork { BY_OBJECT.size }.value, (RubyVM.fork { OBJ }.value rescue $!.message[/can't send.*? VM/])
# A fork of a fork.
p RubyVM.fork { A << 2; RubyVM.fork { A << 3; A.size }.value + A.size * 10 }.value, A.size
