# Times beyond seconds of 64 bits, and offsets with parts of a second.
ENV["TZ"] = "UTC"

def far(t)
  p t, t.year, t.to_i, t.to_r, t.to_f
  puts t.strftime("%Y|%C|%y|%G|%g|%V|%s|%j|%u|%-Y|%012Y|%c"), t.to_s, t.ctime, t.xmlschema, t.iso8601(3)
  p t.to_a, t.wday, t.yday, t.round, t + 1, t - 1, t - 0.5
  p t == t.dup, t.eql?(t + 0), t.hash == t.dup.hash, t <=> Time.at(0), Time.at(0) <=> t, t - Time.at(0)
  p t.getlocal("+09:00"), t.getlocal(3600).utc_offset, t.deconstruct_keys([:year, :sec])
  copy = Marshal.load(Marshal.dump(t))
  p copy == t, copy.zone
end
far Time.utc(2**70)
far Time.utc(-2**70, 12, 31, 23, 59, 59)
far Time.at(2**80, 5, :nsec)
far Time.at(-2**62)

p Time.new("1000000000000000000000000-01-02 03:04:05Z"), Time.new("-1000000000000000000000000-01-02 03:04:05+01:00")
p Time.utc("1000000000000000000000000"), Time.utc("-1000000000000000000000000", 2, 29)
p Time.at(1.0e30), Time.at(Rational(2**90, 3)), Time.at(Rational(2**90, 3)).subsec, Time.at(0, 2**100).to_i
p Time.at(0) + 2**80, Time.at(0) - 2**80, Time.at(2**80) - 2**80, Time.at(2**80) - Time.at(2**80 - 1)
p Time.at(2**62 - 1), Time.at(2**62), Time.at(2**63 - 1), Time.at(2**63), Time.at(-2**63), Time.at(-2**62, in: "-23:00")
p Time.new(2**62, 1, 1, in: "+01:00"), Time.local(2**62).year, [Time.at(2**80), Time.at(0), Time.at(-2**80)].sort
class Later
  def utc_to_local(t) = t + 3600
  def local_to_utc(t) = t - 3600
end
p Time.new(2**70, in: Later.new).to_i, Time.at(2**80, in: Later.new).hour
begin
  File.utime(2**80, 0, __FILE__)
rescue => e
  p e.class
end

def offset(t) = p(t, t.utc_offset, t.strftime("%z|%:z|%::z|%:::z|%s|%N"), t.hour, t.min, t.sec, t.subsec, t.to_r)
offset Time.new(2000, 1, 1, 0, 0, 0, 3661.25)
offset Time.new(2000, 1, 1, 0, 0, 0, 3661.75)
offset Time.new(2000, 1, 1, 0, 0, 0.5, -86399.5)
offset Time.new(2000, 1, 1, 0, 0, 0, Rational(1, 3))
offset Time.at(0.5, in: 0.5)
offset Time.at(0.25, in: -0.5)
offset Time.at(0, in: 3599.75).dup
offset Time.at(Time.at(0, in: 3600.5)) + 1
offset Time.at(0).getlocal(Rational(7201, 2))
p Time.at(0, in: 3600.5).utc.utc_offset, Time.at(0, in: 0.5) == Time.at(0), Time.at(0, in: 0.5).eql?(Time.at(0)), Time.at(0, in: 0.5).hash == Time.at(0).hash
t = Marshal.load(Marshal.dump(Time.new(2000, 1, 1, 0, 0, 0, Rational(7201, 2))))
p t, t.utc_offset
[-86400, 86400, -86400.5, 2**80].each do |o|
  Time.at(0, in: o)
rescue => e
  p e.class, e.message
end

# The rules of a zone hold for all years to come.
ENV["TZ"] = "America/Los_Angeles"
[2**64, 2**40, 12_000, 2400].each do |year|
  winter, summer = Time.new(year, 1), Time.new(year, 8)
  p winter, winter.zone, winter.isdst, summer, summer.zone, summer.isdst, summer - winter
  p Time.at(summer.to_i).isdst, (winter + 86_400 * 200).isdst
end
