# Dates: forms that parsers know, errors, encodings, conversions.
require "date"
def shown(hash) = hash.is_a?(Hash) ? hash.sort.to_h : hash
def told = p((yield rescue "#{$!.class}"))

p Float::INFINITY <=> Date::Infinity.new, Date::Infinity.new <=> Float::INFINITY, -Float::INFINITY <=> -Date::Infinity.new, -Date::Infinity.new <=> -Float::INFINITY
p Float::INFINITY <=> -Date::Infinity.new, Date::Infinity.new <=> 3, Date::Infinity.new == Float::INFINITY
["224559.5", "224559.005Z", "2/5--1999", "Sun\u{3000}Aug 16 01:02:03 \u{65e5}\u{672c} 2009", "Jan - 1" + "0" * 20, "Jan-5", "Jan 5 10000000000", "--11", "---29", "--1129", "-w15-5", "2006-w15",
 "2006-333"].each { |text| p shown(Date._parse(text)) }
%w['99/5/2 99/5/2 99-5-23 '99-5-23 2/5/'99].each { |text| p [false, true].map { |all| shown(Date._parse(text, all)) } }
%w[---03T04:05:06Z ---03 -w3-4 -W11-3T04:05 -034 -w-3 -W-3T01:02 ---3 2001-02 2001-W05 200102 010203T0405 01-02-03 --02 --0203 2001-034 2001].each { |text| p shown(Date._iso8601(text)) }
["Mountain Standard Time", "W. Europe Standard Time", "Tokyo Standard Time", "Central Daylight Time", "AUS Eastern Standard Time", "E.  Australia Standard Time", "EST", "gmt+9", "+1.9999999", "+0.99999999999",
 "-0.5"].each { |zone| p [Date._parse("10:00 #{zone}")[:offset], Date._strptime(zone, "%Z")&.fetch(:offset)] }
[[" 32425", "%k%M%S"], ["  3", "%k"], [" 3425", "%e%y%m"], [" 312", "%l%M"], ["3 1", "%e %H"]].each { |text, format| p shown(Date._strptime(text, format)) }

p Date.rfc3339, Date.rfc2822, Date.httpdate, Date.jisx0301, DateTime.rfc3339, DateTime.rfc822, DateTime.httpdate
p Date.new(1582, 10, 4).to_time.day, Date.new(1582, 10, 15).to_time.day, (Date.new(2004, 9, 19) + 1r / 2).to_datetime.hour
p DateTime.new(2001, 2, 3, 4, 5, 6.123456r).iso8601(3.5), DateTime.new(2001, 2, 3).jisx0301(2.9)
p Date._load(Marshal.dump([2451944, true])), Date._load(Marshal.dump([2451944, false])).start, Date._load(Marshal.dump([4903887r / 2, 0, 2299161])).jd

weird = Class.new(Numeric) { def to_r = self }.new
told { Date.new(2000, 1, 1) + weird }
told { DateTime.new(2000, 1, 1).new_offset(weird) }
told { Date.new(2001, 1, 1).step(Date.new(2001, 1, 3), Object.new).to_a }
told { Date.julian_leap?(nil) }
told { Date.julian_leap?(1900) }

day, moment = Date.new(2001, 2, 3), DateTime.new(2001, 2, 3)
p [day.to_s, day.inspect, day.strftime, moment.to_s, moment.inspect, moment.strftime, moment.zone, Date::MONTHNAMES[1], Date::ABBR_DAYNAMES[0]].map(&:encoding).uniq
p day.strftime("%F".encode("UTF-8")).encoding, day.strftime("%Y年").encoding
