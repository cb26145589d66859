# The calendar around each of its edges, and far from them: what is read off a date, what it becomes, and what is refused.
require "date"
$VERBOSE = nil

def told(label)
  puts "#{label}: #{yield.inspect}"
rescue => e
  puts "#{label}: #{e.class}: #{e.message}"
end

years = [2001, 1900, 1752, 1582, 4, -1, -4712, -99999, 10**10, 10**20, -10**20]
starts = [Date::ITALY, Date::ENGLAND, Date::JULIAN, Date::GREGORIAN]
years.each do |y|
  starts.each do |start|
    days = [[2, -1], [9, 2], [10, 15], [12, 31]]
    days += [[1, 1], [2, 28], [3, 1], [9, 14], [10, 4], [10, 14], [-12, -31], [2, 30], [13, 1], [0, 1], [1, 0]] if start == Date::ITALY
    days.each do |m, d|
      told([y, m, d, start].join(" ")) do
        x = Date.civil(y, m, d, start)
        read = [x, x.jd, x.yday, x.wday, x.cwyear, x.cweek, x.cwday, x.julian?, x.mjd, x.ld, x.ajd, x >> 1, x << 13, x + 1, x - 400, x.next_year(3), x.strftime("%C %y %G %g %V %U %W %u %j %a %s %Q %c"), x.iso8601]
        back = Marshal.load(Marshal.dump(x)) == x && Date.jd(x.jd, start) == x && x.dup.eql?(x) && x.dup.hash == x.hash
        [read, back].hash == 0 ? nil : [*read.map(&:to_s), back]
      end
    end
    told("#{y} #{start}") { [1, 53, -1, -53].map { |w| Date.valid_commercial?(y, w, 1, start) } + [1, 365, 366, -366].map { |d| Date.valid_ordinal?(y, d, start) } + [Date.ordinal(y, -1, start), Date.commercial(y, -1, -1, start)].map(&:to_s) }
  end
end
p Marshal.dump(Date.new(2001, 2, 3)), Date.new(-10**6).marshal_dump, Marshal.load("\x04\bU:\tDate[\vi\x00i\x03\xE8i%i\x00i\x00i\x00f\f2299161".b)

# Of a number with a fraction the class's functions keep the part of the day.
p Date.civil(2001, 1, 1.5), Date.new(2001, 1, 1.5), Date.jd(5.25), Date.ordinal(2001, 3r / 2), Date.commercial(2001, 1, 3r / 2), Date.new(2001, 1.5, 3), Date.new(2001.5, 1, 1)
%w[civil jd ordinal commercial].each { |name| told(name) { Date.__send__(name, "x") } }
told("nil") { Date.new(2001, nil) }
told("month") { Date.new(2001, 2**70) }
told("odd start") { [Date.new(2001, 2, 3, 5).start, Date.new(2001, 2, 3, 2299161.5).inspect] }

# Moments.
[[2001, 2, 3, 4, 5, 6.789r, "+05:30"], [2001, 2, 3, 24], [2001, 2, 3, -1, -1, -1], [2001, 2, 3, 24, 1], [2001, 2, 3, 4.5], [2001, 2, 3, 4, 5, 1r / 3 * 1e-9.to_r, 0], [2001, 2, 3.5, 4], [2001, 2, 3, 4, 5, 60], [-4711, 1, 1, 0, 0, 0, 1],
  [1, 1, 1, 1, 1, 1, "+24:00"], [1, 1, 1, 1, 1, 1, "+9999"], [10**20, 3, 4, 5, 6, 7, "-01:00"]].each do |fields|
  told(fields) do
    x = DateTime.new(*fields)
    [x, x.jd, x.hour, x.min, x.sec, x.sec_fraction, x.offset, x.zone, x.day_fraction, x.ajd, x.amjd, x + 1, x + 0.25, x - 1r / 3, x >> 1, x.iso8601(3), x.strftime("%F %T.%L %N %s %Q %:z %I %p %12N %+ %-d %e"), x.to_date, x.new_offset("+02:00"),
      x <=> x + 1r / 86400, x == x.new_offset(0), Marshal.load(Marshal.dump(x)) == x, x.httpdate, x.rfc2822, x.to_date === x].map(&:to_s)
  end
end

# Classes of the program's own, copies, and what is frozen.
class Own < Date
  attr_reader :note
  def initialize(year, note = nil)
    super(year, 2, 3)
    @note = note
  end
end
a = Own.new(2001, "x")
p a.to_s, a.note, (a + 1).class, (a + 1).note, a.dup.note, a.clone == a, (a >> 1).class, a.to_date.class, Own.civil(2002, 3, 4).to_s, Own.allocate.to_s, a.instance_variables, a == Date.new(2001, 2, 3), a.eql?(Date.new(2001, 2, 3))
class Late < Date
  def initialize; end
end
p Late.new.to_s, Late.new == Date.jd(0), Late.new < a, a - Late.new
f = Date.new(2001, 2, 3).freeze
p f.frozen?, f.year, (f + 1).frozen?, f.dup.frozen?, f.clone.frozen?
told("initialize_copy") { f.__send__(:initialize_copy, a) }
b = Date.new(2001)
b.__send__(:initialize, 2002, 5)
p b
sameish = Class.new(Date) { def <=>(other) = 0 }
p sameish.new(2001) == Date.new(3), Date.new(2001, 2, 3) == DateTime.new(2001, 2, 3), Date.new(2001) == 2451910.5r, Date.new(2001) <=> "x", Date.new(2001) === 2451911
%i[+ - >> <<].each { |name| [nil, "1", Object.new.singleton_class].each { |v| told("#{name} #{v.class}") { Date.new(2001).__send__(name, v) } } }
