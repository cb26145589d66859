# Time.new of texts that are put together: right ones, and what is said of wrong ones; leap seconds; fields that are out of range.
R = Random.new(5)
def pick(list) = list[R.rand(list.size)]
def date = pick(["%04d-%02d-%02d" % [R.rand(3000), 1 + R.rand(12), 1 + R.rand(31)], "%04d-%02d-%02d" % [R.rand(9999), R.rand(17), R.rand(35)], "%d-%d-%d" % [R.rand(3000), R.rand(13), R.rand(32)], "2016-12-31", "1900-02-29", "-0001-01-01", "+2000-01-01", "20240101", "2024-06", "2024", "99", " 2000-01-01"])
def clock = pick(["%02d:%02d:%02d" % [R.rand(26), R.rand(62), R.rand(63)], "23:59:60", "24:00:00", "24:00:01", "%02d:%02d" % [R.rand(25), R.rand(61)], "12", "1:2:3", "23:59:61", "%02d:%02d:60" % [R.rand(24), R.rand(60)], "052408"])
def fraction = pick(["", "", "", ".5", ".123456789", ".", ".x", ",25", ".1234567890123"])
def zone = pick(["", "Z", "z", "UTC", "utc", "+09:00", "-0530", "+09", "-00:00", "+24:00", "-23:59:59", "+09:60", "EST", "A", "J", " UTC", " +09:00", "+9", "+09:00:61", " x y", "A\0", "\n"])
def shown(t) = [t.to_a.first(6), t.subsec, t.utc_offset, t.utc?]
500.times do
  text = date + pick([" ", "T", "t", "  ", ""]) + clock + fraction + zone
  text = pick([date, clock, text]) if R.rand(10) == 0
  said = [{}, { in: "+09:00" }, { precision: 3 }].map { |options| shown(Time.new(text, **options)) rescue "#{$!.class}: #{$!.message}" }
  puts "#{text.inspect} #{said.uniq.inspect}"
end
ENV["TZ"] = "UTC"
values = { 1 => [0, -1, 13, 16, "13", "jan", 99], 2 => [0, -1, 31, 32, 100, "32"], 3 => [24, 25, 32, -1, "25"], 4 => [60, 64, -1, "60"], 5 => [60, 61, 64, -1, 60.5, 61.5, "61", "1.5", 2**31, 2**70] }
%i[utc local new].each do |name|
  values.each do |at, list|
    list.each do |value|
      fields = [2000, 1, 1, 0, 0, 0]
      fields[at] = value
      both = [0, 24].map do |hour|
        fields[3] = hour if at > 3
        Time.send(name, *fields).to_s rescue "#{$!.class}: #{$!.message}"
      end
      p [name, fields, both.uniq] unless name == :new && value == "1.5"
    end
  end
end
["+25:00", "+2500x", 90_000, "utc", "A\0"].each { |z| p((Time.new(2000, 13, 1, in: z) rescue $!.message), (Time.at(0, in: z).to_s rescue $!.message)) }
[-1, 0, 1, 20, nil].each { |n| p((Time.new("2021-12-25 00:00:00.123456789876 +09:00", precision: n).subsec rescue $!.message)) }
