require "date"

def try = yield.inspect rescue "#{$!.class}: #{$!.message}"

# Every day of the reform, of the ends of years and months, and far away: what is read off a date, and back.
[1582 * 366 - 700, 2299155, 2299160, 2299161, 2299170, 2361221, 2361222, 2440588, 2451545, 2460370, 2460676, 0, -1, -1000, 10_000_000].each do |jd|
  d = Date.jd(jd)
  puts [d.to_s, d.yday, d.wday, d.cwyear, d.cweek, d.cwday, d.mjd, d.ld, d.ajd, d.amjd, d.julian?, d.leap?, (d >> 1).to_s, (d << 13).to_s].join(" ")
  puts [Date.civil(d.year, d.mon, d.mday) == d, Date.ordinal(d.year, d.yday) == d, Date.commercial(d.cwyear, d.cweek, d.cwday) == d].inspect
end
sum = 0
(Date.new(1999, 12, 1)..Date.new(2005, 3, 1)).each { |d| sum = (sum * 31 + d.cweek * 400 + d.yday + d.wday) % 1_000_003 }
p sum
p Date.new(2001, 2, -1), Date.new(2001, -1, -1), Date.ordinal(2001, -1), Date.commercial(2004, -1, -1), Date.new(2001, 2, 3.5), Date.new
p try { Date.new(2001, 2, 29) }, try { Date.new(1582, 10, 10) }, try { Date.new("a") }, try { Date.ordinal(2001, 366) }, try { Date.commercial(2001, 53, 1) }
p Date.valid_date?(2001, 2, 29), Date.valid_civil?(2000, 2, 29), Date.valid_ordinal?(2000, 366), Date.valid_commercial?(2004, 53, 7), Date.valid_jd?(5)
p Date.gregorian_leap?(1900), Date.julian_leap?(1900), Date.leap?(2000)

# Arithmetic, comparison, iteration.
a, b = Date.new(2024, 2, 29), Date.new(2023, 12, 31)
p a - b, (a - b).class, a + 1, a - 1, a >> 12, a << 1, a.next_year, a.prev_month(3), a <=> b, a == Date.new(2024, 2, 29), a === DateTime.new(2024, 2, 29, 12)
p a.eql?(Date.new(2024, 2, 29)), { a => 1 }[Date.new(2024, 2, 29)], [a, b].min, a.between?(b, a), try { a + "1" }, try { a - Object }, a <=> "x", a + 1r / 3
p a.step(a + 10, 3).map(&:day), a.upto(a + 2).to_a.size, a.downto(a - 2).map(&:to_s), (b..a).step(20).map(&:to_s), (b...a).count
p a.saturday?, a.thursday?, a.succ, a.england.to_s, Date.new(1700, 1, 1).julian.to_s, Date.new(1582, 10, 4).gregorian.to_s, a.start

# Text.
d = DateTime.new(2024, 2, 3, 4, 5, 6.789r, "+05:30")
puts d, d.inspect, d.iso8601(3), d.rfc3339, d.xmlschema, d.rfc2822, d.httpdate, d.jisx0301, d.asctime, a.iso8601, a.rfc3339, a.rfc2822, a.httpdate, a.jisx0301, a.inspect
puts d.strftime("%Y %C %y %m %B %b %^b %d %e %-d %j %H %I %k %l %M %S %L %N %3N %z %:z %::z %Z %A %a %u %w %G %V %U %W %s %Q %n%t%% %c|%D|%F|%T|%R|%r|%x|%X|%v|%+|%10A|%-m|%010Y")
p d.hour, d.min, d.sec, d.sec_fraction, d.offset, d.zone, d.day_fraction, d.new_offset("-08:00"), d.to_date, d.to_time.utc, d.to_datetime.equal?(d)
p try { DateTime.new(2024, 1, 1, 25) }, DateTime.new(2024, 1, 1, 24), DateTime.new(2024, 1, 1, -1, -1, -1), DateTime.jd(2460000.5), d + 1r / 86400, d - DateTime.new(2024)
t = Time.utc(2024, 2, 3, 4, 5, 6.5r)
p t.to_date, t.to_datetime, t.to_time.equal?(t), a.to_datetime, a.to_time.to_a[3, 3]

# Parsing.
["2001-02-03", "20010203", "3rd Feb 2001", "Feb 3, 2001", "February 3 2001", "Sat Aug 28 02:55:00 2000", "2001-W05-6", "2001-034", "H13.02.03", "3.2.2001", "2001/2/3", "2/3", "'01-2-3",
 "10:20:30.5 pm 2001-02-03 +0900", "2001-02-03T04:05:06+09:00", "20010203T040506Z", "3 Feb 2001 14:15 EST", "Thu, 03 Feb 2001 00:00:00 GMT", "99-1-2", "jan 5 2003 5:13 PM", "12 a.m. 2001-01-01",
 "2001-02-03 04:05:06 UTC", "5pm", "nov", "13th", "20010203040506", "010203", "2001-05", "-2001-02-03", "Sat 3 Feb 2001 BC", "xyz"].each do |s|
  puts "#{s}: #{Date._parse(s).sort_by { |k, _| k.to_s }.inspect}"
end
p try { Date.parse("xyz") }, try { Date.parse("2001-02-30") }, try { Date.parse(nil) }, try { Date.parse("1" * 200) }
[["2001-02-03", "%Y-%m-%d"], ["2001-034", "%Y-%j"], ["2001-W05-6", "%G-W%V-%u"], ["2001 04 6", "%Y %U %w"], ["2001 05 6", "%Y %W %u"], ["sat3feb2001", "%a%d%b%Y"], ["20010203", "%Y%m%d"],
 ["986868000", "%s"], ["3 Feb 2001 11:12:13.456 PM +0230", "%d %b %Y %I:%M:%S.%L %p %z"], ["99", "%y"], ["x", "%Y"], ["2001-02-03x", "%F"], ["Feb 2001", "%b %Y"]].each do |s, f|
  puts "#{s} #{f}: #{Date._strptime(s, f).to_a.inspect} #{try { DateTime.strptime(s, f).to_s }}"
end
p Date.iso8601("2001-W05-6"), Date.rfc3339("2001-02-03T04:05:06+07:00"), Date.xmlschema("2001-02-03"), Date.rfc2822("Sat, 3 Feb 2001 00:00:00 +0000"), Date.httpdate("Sat, 03 Feb 2001 00:00:00 GMT"), Date.jisx0301("H13.02.03")
p DateTime.iso8601("2001-02-03T04:05:06.5+07:00"), DateTime.rfc2822("Sat, 3 Feb 2001 04:05:06 +0700"), try { DateTime.rfc3339("2001-02-03") }
p Marshal.load(Marshal.dump(d)) == d, d.frozen?, a.dup == a, a.hash == Date.new(2024, 2, 29).hash, (Date.new(2024, 1, 1)..) === a
