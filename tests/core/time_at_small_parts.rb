# Parts of seconds as small Integers, of either sign, in every unit.
[0, 1, 500, 999_999, 1_000_000, 1_500_000, -1, -999_999, -1_000_001, 4611686018427387903, -4611686018427387904].each do |n|
  [nil, :millisecond, :usec, :microsecond, :nsec, :nanosecond].each do |unit|
    t = unit ? Time.at(5, n, unit) : Time.at(5, n)
    p [n, unit, t.to_i, t.nsec, t.subsec]
  rescue RangeError => e
    p [n, unit, e.class]
  end
end
p Time.at(5, 1.5).nsec, Time.at(5, 1/3r).subsec, (Time.at(5, nil) rescue $!.message), (Time.at(5, 1, :day) rescue $!.message)
