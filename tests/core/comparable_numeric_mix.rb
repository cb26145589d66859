p 1 + 1.5
p 1.5 + 1
p 1 + 1r
p 1r + 1.5
p 2**70 + 1.0
p 2**70 * 1r
p 1 == 1r
p 1.0 == 1r
p 3 > 2.5
p 2.5 < 3r
p 2**70 > 1e20
p 2**70 == (2**70).to_f
p [1, 1.5, 2r, 2**65].sort
p [3, 1.5, 2r].max
p [1, 2.0].sum
p [1, 2r].sum
p [0.1] * 2 + [1]
p 7 % 2.5
p 7.5 % 2
p 7r % 2
p(-7 % 2.5)
p 7.divmod(2.5)
p 7.5.divmod(2)
p 2**0.5
p 2.0**3
p 4**-1
p 4.0**-1
p((-8)**(1.0 / 3))
p 10.fdiv(3)
p 10.0.floor
p 10 / 3r
p 1 <=> 1.5
p 1.0.eql?(1)
p 1.hash == 1.0.hash
p 1.coerce(1.5)
p 1.5.coerce(1)
p 1r.coerce(2)
p 0.1 + 0.2 == 0.3
p((0.1 + 0.2 - 0.3).abs < Float::EPSILON)
p 1e308 * 10
p(-1e308 * 10)
p 0.0 / 0.0 == 0.0 / 0.0
p 5.0.to_i
p 1e10.to_i
p 12345678912345.678.to_i
p 1.23e2.to_s
p 100.to_f
p 3.7 .floor
p 3.2 .ceil
p(-0.5.round)
p 0.5.round
p 1.5.round
p 1e-10.round(5)
p 123.456.round(1)
p 123.456.round(-1)
p 15.round(-1)
p 1.0.to_r
p 0.1.to_r
class Meters
  attr_reader :v
  def initialize(v) = @v = v
  def coerce(n) = [Meters.new(n), self]
  def +(o) = Meters.new(v + (o.is_a?(Meters) ? o.v : o))
  def *(o) = Meters.new(v * (o.is_a?(Meters) ? o.v : o))
end
p (5 + Meters.new(3)).v, (2.5 * Meters.new(2)).v
begin; 5 + Object.new; rescue TypeError => e; p e.message; end
begin; 5 < nil; rescue ArgumentError => e; p e.message; end
begin; 1.5 < "x"; rescue ArgumentError => e; p e.message; end
begin; 5 & 1.5; rescue TypeError => e; p e.message; end
begin; 2**70 + nil; rescue TypeError => e; p e.message; end
