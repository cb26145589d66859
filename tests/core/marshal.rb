class Pt; attr_accessor :x; def ==(o) = o.is_a?(Pt) && x == o.x; end
a = Pt.new
a.x = [1, "two", :three, 4.5, nil, true, 2**80, -1, 300, 70000, { k: [1] }, 1..3, "é", Pt]
b = Marshal.load(Marshal.dump(a))
p a == b
p b.x.equal?(a.x)
p Marshal.dump([1, "a", :b, nil, true, 1.5]).bytes
p Marshal.dump(2**70).bytes
p Marshal.dump({ a: 1 }).bytes
cyc = []
cyc << cyc
c = Marshal.load(Marshal.dump(cyc))
p c[0].equal?(c)
s = "shared"
d = Marshal.load(Marshal.dump([s, s]))
p d[0].equal?(d[1])
S = Struct.new(:q)
p Marshal.load(Marshal.dump(S.new(5)))
class Cus; def initialize(v) = @v = v; def marshal_dump = [@v]; def marshal_load(a) = @v = a[0] * 2; attr_reader :v; end
p Marshal.load(Marshal.dump(Cus.new(4))).v
begin; Marshal.dump(proc {}); rescue TypeError => e; p e.message; end
begin; Marshal.dump(Object.new.tap { |o| def o.x = 1 }); rescue TypeError => e; p e.class; end
begin; Marshal.load("\x04\x09x"); rescue TypeError => e; p e.class; end
begin; Marshal.load("\x04\x08["); rescue ArgumentError => e; p e.message; end
