# Texts read by formats: each directive with what fits and what does not, alone and before other numbers, by a fixed sequence of choices.
require "date"
$VERBOSE = nil

def told(label)
  found = yield
  found = found.sort_by { |k, _| k.to_s } if found.is_a?(Hash)
  puts "#{label}: #{found.inspect}"
rescue => e
  puts "#{label}: #{e.class}: #{e.message}"
end

# One of a list, the same one in each run.
@state = 20_240_229
def pick(list)
  @state = (@state * 1_103_515_245 + 12_345) % 2**31
  list[(@state >> 8) % list.size]
end

NUMBERS = %w[0 1 2 3 5 7 9 10 12 13 23 24 28 29 30 31 32 53 54 59 60 61 99 00 01 001 366 367 100 -1] + [" 1", " 3", "", "x"]
ZONES = ["+09:00", "-0500", "UTC", "GMT+9", "gmt", "Z", "EST", "est dst", "Central Standard Time", "utc-3:30", "+9.5", "-1,25", "+12:34:56", "x9", "+", "tokyo standard time", "JST dst", "PDT", "+123456", "+1",
  "+123", "ut+3", "W. Europe Standard Time", "Foo Daylight Time", "estx", "+25:00", "+2360", "A", "m", "j", "-00:60", "a.b", "+9:5", "+99", "+12345", "[+9]", "+1.123456789", "standard time", "x standard  time_"]
TEXTS = {
  "A" => %w[Sunday sun MONDAY Tue wednes Thu friday sat x su], "B" => %w[January jan FEB may June sept Dec decemberx j], "p" => %w[am PM a.m. P.M. pmx a p a.m AMx p..], "z" => ZONES,
  "N" => %w[5 123 000 123456789 1234567890123456789 -5 +25 0], "Y" => %w[2001 1 -5 +12 99 0 12345 123456789012345678901 02001 -0001], "s" => %w[0 1234567890 -1 +5 99999999999999999999 1500],
  "F" => %w[2001-02-03 2001-2-3 -2001-02-29 +20011-13-1 2001-02-30], "T" => %w[10:11:12 1:2:3 24:00:00 23:59:60 10:60:1], "R" => %w[10:11 1:2], "r" => ["10:11:12 pm", "12:00:00 AM", "13:1:1 am"],
  "v" => ["3-Feb-2001", " 3-feb-2001"], "D" => %w[2/3/99 02/30/01 13/1/1], "c" => ["Sat Feb  3 04:05:06 2001"], "+" => ["Sat Feb  3 04:05:06 JST 2001"], "%" => ["%"]
}
SAME = { "a" => "A", "b" => "B", "h" => "B", "P" => "p", "Z" => "z", "L" => "N", "G" => "Y", "C" => "Y", "Q" => "s", "X" => "T", "x" => "D" }
text_of = ->(directive) { c = directive[-1]; pick(TEXTS[SAME[c] || c] || NUMBERS) }

DIRECTIVES = %w[A a B b h C c D d e F G g H I j k l L M m N n P p Q R r S s T t U u V v W w X x Y y Z z % + :z ::z :::z ::::z Ey EY EC Ex Od Oe OH Oy Ez Oz E O : -d 5 ^a]
DIRECTIVES.each { |d| 5.times { text = text_of.(d); told("#{text.inspect} %#{d}") { Date._strptime(text, "%#{d}") } } }
400.times do
  format, text = +"", +""
  (1 + pick([0, 1, 2, 3])).times do
    d = pick(DIRECTIVES)
    format << "%" << d
    text << text_of.(d)
    between = pick([" ", "-", "/", ":", "T", ".", "", "", "x", "1", "\t"])
    format << between if pick([true, true, false])
    text << between if pick([true, true, true, false])
  end
  text << pick(["", "", "", "x", " "])
  told("#{text.inspect} #{format.inspect}") { Date._strptime(text, format) }
end
["%Y-%m-%d", "%Y %j", "%G-W%V-%u", "%G %V %w", "%Y %U %w", "%Y %W %u", "%Y %W %a", "%s", "%Q", "%d %b %Y", "%FT%T%z", "%Y-%m-%d %I:%M %p", "%y%m%d", "%C%y %j"].each do |format|
  6.times do
    text = format.gsub(/%(.)/) { text_of.($1) }
    told("#{text.inspect} #{format} day") { Date.strptime(text, format) }
    told("#{text.inspect} #{format} moment") { DateTime.strptime(text, format) }
  end
end

told("nil") { Date._strptime(nil) }
told("no format") { Date._strptime("2001-02-03", nil) }
told("wide") { Date._strptime("2001".encode("UTF-16LE"), "%Y") }
told("wide format") { Date._strptime("2001", "%Y".encode("UTF-16LE")) }
told("zone behind é") { Date._strptime("é UTC", "é %Z")[:zone] }
told("é behind zone") { Date._strptime("UTC é", "%Z é") }
told("zero") { Date._strptime("2001-02-03\0", "%F") }
p Date._strptime("3x", "%d")[:leftover].encoding, Date._strptime("3 utc".encode("US-ASCII"), "%d %Z")[:zone].encoding
p Date.strptime, DateTime.strptime, Date.strptime("2001-02-03", "%F", Date::JULIAN).start, DateTime._strptime("2001-02-03T04:05:06+09:00")
own = Class.new(Date)
p own.strptime("2001-02-03").instance_of?(own), own.iso8601("2001-02-03").instance_of?(own), own.parse("2001-02-03").instance_of?(own)

# Long ones.
long = "9" * 100_000
p Date._strptime(long, "%s")[:seconds] == long.to_i, Date._strptime("0." + long, "0.%N")[:sec_fraction] == Rational(long.to_i, 10**100_000), Date._strptime(" " * 200_000 + "5", "%d")&.size, Date._strptime("x" * 100_000, "x" * 100_000)
p Date._strptime("a " * 100_000 + "standard time", "%Z")[:zone].size, Date._strptime("+" + long, "%z")[:zone].size
