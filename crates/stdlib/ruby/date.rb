# date: what of Date and DateTime is not native (crates/stdlib/src/date): what is rare, and what follows from the rest.
#
# A date is a chronological Julian day number (of UTC), seconds of that day, a fraction of a second in nanoseconds (Integer or Rational), an offset in
# seconds, and the day number from which the Gregorian calendar counts: `__parts`.
class Date
  include Comparable

  class Error < ArgumentError; end

  ITALY = 2299161
  ENGLAND = 2361222
  JULIAN = Float::INFINITY
  GREGORIAN = -Float::INFINITY
  VERSION = "3.5.1"
  MONTHNAMES = [nil, "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"].map { |name| name&.encode(Encoding::US_ASCII)&.freeze }.freeze
  ABBR_MONTHNAMES = [nil, "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].map { |name| name&.encode(Encoding::US_ASCII)&.freeze }.freeze
  DAYNAMES = %w[Sunday Monday Tuesday Wednesday Thursday Friday Saturday].map { |name| name&.encode(Encoding::US_ASCII)&.freeze }.freeze
  ABBR_DAYNAMES = %w[Sun Mon Tue Wed Thu Fri Sat].map { |name| name&.encode(Encoding::US_ASCII)&.freeze }.freeze
  UNIX_EPOCH_IN_CJD = 2440588
  private_constant :UNIX_EPOCH_IN_CJD

  # A number beyond all others, as Date compares it.
  class Infinity < Numeric
    # Infinity with a sign: 1, -1, or 0 for what is no number.
    def initialize(d = 1) = @d = d <=> 0

    def d = @d
    protected :d

    # False.
    def zero? = false
    # False.
    def finite? = false
    # The sign, 1 or -1, or nil for what is no number.
    def infinite? = d.nonzero?
    # Whether it is no number.
    def nan? = d.zero?
    # Positive infinity.
    def abs = self.class.new
    # Infinity with the other sign.
    def -@ = self.class.new(-d)
    # The same number.
    def +@ = self.class.new(+d)

    # Compares with Infinity, Float::INFINITY and other numbers, which are all smaller (of a negative one larger).
    def <=>(other)
      case other
      when Infinity then d <=> other.d
      when Float::INFINITY then d <=> 1
      when -Float::INFINITY then d <=> -1
      when Numeric then d
      else
        begin
          l, r = other.coerce(self)
          l <=> r
        rescue NoMethodError
          nil
        end
      end
    end

    # Numbers for a comparison that another number began.
    def coerce(other)
      case other
      when Numeric then [-d, d]
      else super
      end
    end

    # As Float; 0.0 for what is no number.
    def to_f
      return 0.0 if @d == 0
      @d > 0 ? Float::INFINITY : -Float::INFINITY
    end
  end

  class << self
    private def __valid_ordinal_jd(y, d, start) = __valid_jd(0, y, d, 0, start)
    private def __valid_commercial_jd(y, w, d, start) = __valid_jd(1, y, w, d, start)
    private def __valid_weeknum_jd(y, w, d, f, start) = __valid_jd(2 + f, y, w, d, start)
    private def __valid_civil_jd(y, m, d, start) = __valid_jd(4, y, m, d, start)

    private def __integer(value, name)
      raise TypeError, "invalid #{name} (not numeric)" unless Numeric === value
      Integer === value ? value : value.floor
    end

    # A last element with a fraction of a day: the whole part and the fraction.
    private def __split(value, name)
      raise TypeError, "invalid #{name} (not numeric)" unless Numeric === value
      whole = value.floor
      # Of a Float nobody means more than its nanoseconds.
      [whole, value.is_a?(Integer) ? 0 : value.is_a?(Float) ? Rational(((value - whole) * 86_400_000_000_000).round, 86_400_000_000_000) : value.to_r - whole]
    end

    # A part of the day is kept, though no method of a Date tells it.
    private def __make(jd, start, fraction = 0)
      date = __of(jd, 0, 0, 0, start)
      fraction == 0 ? date : date + fraction
    end

    # Ten to the power of minus `digits`, so many times.
    private def __fraction(n, digits) = Rational(n, 10**digits)

    # Whether there is such a day number: for every number.
    def valid_jd?(jd, start = ITALY) = Numeric === jd

    # Whether the year has so many days; negative ones count from the end.
    #
    #     Date.valid_ordinal?(2023, 366)   #=> false
    def valid_ordinal?(y, d, start = ITALY)
      return false unless [y, d].all?(Numeric)
      !!__valid_ordinal_jd(y.to_i, d.to_i, __start(start))
    end

    # Whether the ISO year has this week and day of the week; negative ones count from the end.
    def valid_commercial?(y, w, d, start = ITALY)
      return false unless [y, w, d].all?(Numeric)
      !!__valid_commercial_jd(y.to_i, w.to_i, d.to_i, __start(start))
    end

    # Whether a year of the Gregorian calendar has 366 days; TypeError if it is no number.
    #
    #     Date.leap?(2024)   #=> true
    def gregorian_leap?(y)
      raise TypeError, "invalid year (not numeric)" unless Numeric === y
      y % 4 == 0 && y % 100 != 0 || y % 400 == 0
    end
    alias leap? gregorian_leap?

    # Whether a year of the Julian calendar has 366 days; TypeError if it is no number.
    def julian_leap?(y)
      raise TypeError, "invalid year (not numeric)" unless Numeric === y
      y % 4 == 0
    end

    private def __jd(jd = 0, start = ITALY)
      jd, fraction = __split(jd, "jd")
      __make(jd, __start(start), fraction)
    end

    # The date of a year and a day of the year; a negative day counts from the year's end. Date::Error if there is none.
    #
    #     Date.ordinal(2024, 60).to_s   #=> "2024-02-29"
    def ordinal(y = -4712, d = 1, start = ITALY)
      y = __integer(y, "year")
      d, fraction = __split(d, "yday")
      start = __start(start)
      jd = __valid_ordinal_jd(y, d, start) or raise Error, "invalid date"
      __make(jd, start, fraction)
    end

    # The date of an ISO year, week and day of the week (1 is Monday); negative ones count from the end. Date::Error if there is none.
    #
    #     Date.commercial(2024, 1, 1).to_s   #=> "2024-01-01"
    def commercial(y = -4712, w = 1, d = 1, start = ITALY)
      y = __integer(y, "year")
      w = __integer(w, "cweek")
      d, fraction = __split(d, "cwday")
      start = __start(start)
      jd = __valid_commercial_jd(y, w, d, start) or raise Error, "invalid date"
      __make(jd, start, fraction)
    end

    # The day that the local clock shows.
    def today(start = ITALY)
      t = Time.now
      civil(t.year, t.mon, t.mday, GREGORIAN).new_start(start)
    end

    # What Ruby 1.8 and older wrote.
    def _load(text)
      found = Marshal.load(text)
      return found unless Array === found
      date = allocate
      date.__send__(:marshal_load, found)
      date
    end
  end

  # The astronomical Julian day number, a Rational: days since noon of the day 0, in UTC.
  #
  #     Date.new(2000, 1, 1).ajd   #=> (4903089/2)
  def ajd
    jd, df, sf = __parts
    ajd = (jd * 86400 + df + Rational(sf, 1_000_000_000)).to_r / 86400 - 1r / 2
    ajd.denominator == 1 ? ajd.to_i : ajd
  end

  # The modified Julian day number with the part of the day, a Rational.
  def amjd = ajd - 4800001r / 2

  # The part of the day that is over, as Rational; 0 for a Date.
  #
  #     DateTime.new(2024, 2, 3, 12).day_fraction   #=> (1/2)
  def day_fraction
    _, df, sf, of = __parts
    Rational((df + of) % 86400 * 1_000_000_000 + sf, 86_400_000_000_000)
  end

  # The same day, with another day number from which on the Gregorian calendar counts.
  def new_start(start = ITALY) = __restarted(Date.__send__(:__start, start))
  # The same day; the Gregorian calendar counts from October 15, 1582.
  def italy = new_start(ITALY)
  # The same day; the Gregorian calendar counts from September 14, 1752.
  def england = new_start(ENGLAND)
  # The same day in the Julian calendar.
  def julian = new_start(JULIAN)
  # The same day in the Gregorian calendar.
  def gregorian = new_start(GREGORIAN)

  private def sec_fraction = Rational(__parts[2], 1_000_000_000)
  alias second_fraction sec_fraction
  private :second_fraction

  private def offset = Rational(__parts[3], 86400)

  # What is left of `+`, `-` and comparisons: years far away, and parts of a nanosecond.

  private def __plus(other)
    case other
    when Integer then return __later(other, 0)
    when Float
      raise FloatDomainError, other.to_s unless other.finite?
      whole = other.floor
      ns = ((other - whole) * 86_400_000_000_000).round
    when Rational
      whole = other.floor
      ns = (other - whole) * 86_400_000_000_000
    when Numeric
      raise TypeError, "expected numeric" unless other.real?
      number = other.to_r
      raise TypeError, "wrong argument type #{number.class} (expected Rational)" unless Rational === number
      return self + number
    else
      raise TypeError, "expected numeric"
    end
    __later(whole, ns)
  end

  private def __later(days, ns)
    jd, df, sf, of, start = __parts
    ns += sf
    seconds = df + ns.div(1_000_000_000)
    self.class.__send__(:__of, jd + days + seconds.div(86400), seconds % 86400, ns % 1_000_000_000, of, start)
  end

  private def __minus(other)
    case other
    when Date
      jd, df, sf = __parts
      jd2, df2, sf2 = other.__send__(:__parts)
      Rational(((jd - jd2) * 86400 + df - df2) * 1_000_000_000 + sf - sf2, 86_400_000_000_000)
    when Numeric then self + -other
    else raise TypeError, "expected numeric"
    end
  end

  private def __months_later(months)
    y, m = (year * 12 + mon - 1 + months).floor.divmod(12)
    d = mday
    until to = Date.__send__(:__valid_civil_jd, y, m + 1, d, start)
      d -= 1
      raise Error, "invalid date" if d < 1
    end
    self + (to - jd)
  end

  private def __months_earlier(months)
    raise TypeError, "expected numeric" unless Numeric === months
    self >> -months
  end

  # The date `n` months later, on the last day of the month where it is shorter.
  def next_month(n = 1) = self >> n
  # The date `n` months earlier, on the last day of the month where it is shorter.
  def prev_month(n = 1) = self << n
  # The date `n` years later; February 29 becomes the 28th where the year has none.
  def next_year(n = 1) = self >> n * 12
  # The date `n` years earlier; February 29 becomes the 28th where the year has none.
  def prev_year(n = 1) = self << n * 12

  private def __compare(other)
    case other
    when Date
      jd, df, sf = __parts
      jd2, df2, sf2 = other.__send__(:__parts)
      c = jd <=> jd2
      return c unless c == 0
      c = df <=> df2
      c == 0 ? sf <=> sf2 : c
    when Numeric then ajd <=> other
    end
  end

  private def __same_day(other)
    case other
    when Date then jd == other.jd
    when Numeric then jd == other.to_i
    else false
    end
  end

  # Yields this date and each one `by` days further on, up to `limit`; `by` may be negative, with 0 it is an ArgumentError. Without a block an Enumerator.
  def step(limit, by = 1)
    return to_enum(:step, limit, by) unless block_given?
    raise ArgumentError, "step can't be 0" if by == 0
    date = self
    way = by <=> 0
    raise ArgumentError, "comparison of #{by.class} with 0 failed: comparator returned nil" if way.nil?
    if way > 0
      while date <= limit
        yield date
        date += by
      end
    else
      while date >= limit
        yield date
        date += by
      end
    end
    self
  end

  # Yields each day from this one up to `max`; without a block an Enumerator.
  def upto(max, &block)
    return to_enum(:upto, max) unless block
    step(max, 1, &block)
  end

  # Yields each day from this one down to `min`; without a block an Enumerator.
  def downto(min, &block)
    return to_enum(:downto, min) unless block
    step(min, -1, &block)
  end

  # False.
  def infinite? = false

  # The date as RFC 3339 has it, with time of day and offset.
  #
  #     Date.new(2024, 2, 3).rfc3339   #=> "2024-02-03T00:00:00+00:00"
  def rfc3339 = strftime("%Y-%m-%dT%H:%M:%S%:z")
  # The date as RFC 2822 has it, for mail.
  def rfc2822 = strftime("%a, %-d %b %Y %T %z")
  alias rfc822 rfc2822
  # The moment in UTC as HTTP's headers have it.
  #
  #     Date.new(2024, 2, 3).httpdate   #=> "Sat, 03 Feb 2024 00:00:00 GMT"
  def httpdate = __moved(0).strftime("%a, %d %b %Y %T GMT")
  # The date as C's `asctime` writes it: "Sat Feb  3 00:00:00 2024".
  def asctime = strftime("%a %b %e %H:%M:%S %Y")
  alias ctime asctime
  # The date with the year of the Japanese era; before Meiji as ISO 8601.
  #
  #     Date.new(2024, 2, 3).jisx0301   #=> "R06.02.03"
  def jisx0301 = strftime(__jisx0301_format)

  private def __jisx0301_format
    era = case jd
          when ...2405160 then return "%Y-%m-%d"
          when ...2419614 then ["M", 1867]
          when ...2424875 then ["T", 1911]
          when ...2447535 then ["S", 1925]
          when ...2458605 then ["H", 1988]
          else ["R", 2018]
          end
    format("%s%02d.%%m.%%d", era[0], year - era[1])
  end

  # The class, the date, and what the object holds: day number, seconds, nanoseconds, offset, start of the Gregorian calendar.
  def inspect
    jd, df, sf, of, start = __parts
    start = start.infinite? ? (start > 0 ? "Inf" : "-Inf") : format("%.0f", start)
    text = "#<#{self.class}: #{self} ((#{jd}j,#{df}s,#{sf.is_a?(Rational) ? "(#{sf})" : sf}n),#{of < 0 ? "-" : "+"}#{of.abs}s,#{start}j)>"
    text.ascii_only? ? text.force_encoding(Encoding::US_ASCII) : text
  end

  # Midnight of the day in UTC, as DateTime.
  def to_datetime
    jd, _, _, _, start = __parts
    DateTime.__send__(:__of, jd, 0, 0, 0, start)
  end

  # Midnight of the day in the local time zone, as Time.
  def to_time
    date = julian? ? gregorian : self
    Time.local(date.year, date.mon, date.mday)
  end

  # A Hash of `:year`, `:month`, `:day`, `:yday` and `:wday` for pattern matching; of the named ones alone if `keys` is an Array.
  def deconstruct_keys(keys) = __deconstruct(keys, %i[year month day yday wday])

  private def __deconstruct(keys, known)
    raise TypeError, "wrong argument type #{keys.class} (expected Array or nil)" unless keys.nil? || Array === keys
    (keys ? keys & known : known).to_h { |k| [k, __send__(k)] }
  end

  # Days are counted in periods of this length, after which both calendars begin anew.
  PERIOD = 213447717
  private_constant :PERIOD

  # What Marshal writes.
  def marshal_dump
    jd, *rest = __parts
    __copy_variables(self, [*jd.divmod(PERIOD), *rest])
  end

  private def __copy_variables(from, to)
    from.instance_variables.each { |name| to.instance_variable_set(name, from.instance_variable_get(name)) }
    to
  end

  # Takes what Marshal read, also of older formats.
  def marshal_load(array)
    raise TypeError, "expected array" unless Array === array
    case array.size
    when 6
      periods, jd, *rest = array
      __set(periods * PERIOD + jd, *rest)
    when 2
      jd, start = array
      __set(jd, 0, 0, 0, Numeric === start ? start : start ? GREGORIAN : JULIAN)
    when 3
      ajd, of, start = array
      ns = (ajd + 1r / 2) * 86_400_000_000_000
      seconds, sf = ns.divmod(1_000_000_000)
      jd, df = seconds.divmod(86400)
      __set(jd, df, sf, (of * 86400).to_i, start)
    else raise TypeError, "invalid size"
    end
    __copy_variables(array, self)
  end

end

# A Date with a time of day and an offset.
class DateTime < Date
  class << self
    private def __offset(of)
      case of
      when String
        seconds = Date.__send__(:__zone_to_diff, of)
        unless seconds && seconds.abs <= 86400
          warn "invalid offset is ignored"
          return 0
        end
        seconds
      when Numeric
        unless Integer === of || Float === of || Rational === of
          of = of.to_r
          raise TypeError, "wrong argument type #{of.class} (expected Rational)" unless Rational === of
        end
        seconds = (of * 86400).round
        if seconds.abs > 86400
          warn "invalid offset is ignored"
          return 0
        end
        seconds
      else raise TypeError, "invalid offset (not numeric)" unless of.nil?
      end
    end

    # Only the last number may have a fraction.
    private def __check_fractions(fraction, h, min, s)
      whole = ->(n) { Integer === n || !(Numeric === n) || n % 1 == 0 }
      raise Date::Error, "invalid fraction" if h && fraction != 0 || (min || s) && !whole.(h) || s && !whole.(min)
    end

    # The moment of a local day number and time of day.
    private def __at(jd, h, min, s, of, start)
      h ||= 0
      min ||= 0
      s ||= 0
      raise TypeError, "invalid hour (not numeric)" unless Numeric === h
      raise TypeError, "invalid minute (not numeric)" unless Numeric === min
      raise TypeError, "invalid second (not numeric)" unless Numeric === s
      rest = 0
      float = Float === h || Float === min || Float === s
      unless Integer === h
        rest = h.to_r % 1 * 3600
        h = h.floor
      end
      unless Integer === min
        rest += min.to_r % 1 * 60
        min = min.floor
      end
      sub = Integer === s ? 0 : (s.to_r % 1)
      s = s.floor
      h += 24 if h < 0
      min += 60 if min < 0
      s += 60 if s < 0
      raise Date::Error, "invalid date" unless (0..24) === h && (0..59) === min && (0..59) === s && (h < 24 || min == 0 && s == 0)
      total = jd * 86400 + h * 3600 + min * 60 + s - of
      ns = (sub + rest) * 1_000_000_000
      ns = ns.round if float
      total += ns.div(1_000_000_000)
      __of(total.div(86400), total % 86400, ns % 1_000_000_000, of, start)
    end

    private def __civil(y = -4712, m = 1, d = 1, h = nil, min = nil, s = nil, of = 0, start = Date::ITALY)
      y = __integer(y, "year")
      m = __integer(m, "month")
      d, fraction = __split(d, "day")
      __check_fractions(fraction, h, min, s)
      start = __start(start)
      jd = __valid_civil_jd(y, m, d, start) or raise Date::Error, "invalid date"
      date = __at(jd, h, min, s, __offset(of), start)
      fraction == 0 ? date : date + fraction
    end

    private def __jd(jd = 0, h = nil, min = nil, s = nil, of = 0, start = Date::ITALY)
      jd, fraction = __split(jd, "jd")
      __check_fractions(fraction, h, min, s)
      date = __at(jd, h, min, s, __offset(of), __start(start))
      fraction == 0 ? date : date + fraction
    end

    # The moment of a year, a day of the year, a time of day and an offset; only the last number may have a fraction.
    def ordinal(y = -4712, d = 1, h = nil, min = nil, s = nil, of = 0, start = Date::ITALY)
      d, fraction = __split(d, "yday")
      __check_fractions(fraction, h, min, s)
      start = __start(start)
      jd = __valid_ordinal_jd(__integer(y, "year"), d, start) or raise Date::Error, "invalid date"
      date = __at(jd, h, min, s, __offset(of), start)
      fraction == 0 ? date : date + fraction
    end

    # The moment of an ISO year, week, day of the week, a time of day and an offset; only the last number may have a fraction.
    def commercial(y = -4712, w = 1, d = 1, h = nil, min = nil, s = nil, of = 0, start = Date::ITALY)
      d, fraction = __split(d, "cwday")
      __check_fractions(fraction, h, min, s)
      start = __start(start)
      jd = __valid_commercial_jd(__integer(y, "year"), __integer(w, "cweek"), d, start) or raise Date::Error, "invalid date"
      date = __at(jd, h, min, s, __offset(of), start)
      fraction == 0 ? date : date + fraction
    end

    # The moment that the clock shows, with the offset of the local time zone.
    def now(start = Date::ITALY)
      __of(*Time.now.to_datetime.new_start(start).__send__(:__parts))
    end

    undef_method :today
  end

  # :method: hour: Hour, 0 to 23.
  # :method: min: Minute, 0 to 59; `minute` is the same.
  # :method: sec: Second, 0 to 59; `second` is the same.
  # :method: sec_fraction: The part of the second that is over, as Rational; `second_fraction` is the same.
  # :method: offset: The offset from UTC in days, as Rational.
  #
  #     DateTime.new(2024, 2, 3, 4, 5, 6, "+09:00").offset   #=> (3/8)
  # :method: zone: The offset as text: "+09:00".
  public :hour, :min, :minute, :sec, :second, :sec_fraction, :second_fraction, :offset, :zone

  # The same moment with another offset, in days or as text: "+09:00"; 0 is UTC.
  def new_offset(of = 0) = __moved(DateTime.__send__(:__offset, of) || 0)

  # The date with the year of the Japanese era, the time of day with `n` digits of the second's fraction, and the offset.
  def jisx0301(n = 0) = super() + __iso_time(n)

  private def __iso_time(n) = strftime((n = n.to_i) > 0 ? "T%H:%M:%S.%#{n}N%:z" : "T%H:%M:%S%:z")

  # The object itself.
  def to_datetime = self

  # The same moment as Time, with the same offset.
  def to_time
    _, _, _, of, start = __parts
    d = of == 0 && start != Date::ITALY ? self : new_start(GREGORIAN)
    Time.new(d.year, d.mon, d.mday, d.hour, d.min, d.sec + d.sec_fraction, of)
  end

  # A Hash of the date's parts and `:hour`, `:min`, `:sec`, `:sec_fraction` and `:zone` for pattern matching; of the named ones alone if `keys` is an Array.
  def deconstruct_keys(keys) = __deconstruct(keys, %i[year month day yday wday hour min sec sec_fraction zone])
end

class Time
  # The time itself.
  def to_time = self

  # The day that the time shows in its own time zone.
  def to_date = Date.jd(2440588 + (to_i + utc_offset).div(86400))

  # The same moment as DateTime, with the same offset.
  def to_datetime
    seconds = to_i
    DateTime.__send__(:__of, 2440588 + seconds.div(86400), seconds % 86400, subsec * 1_000_000_000, utc_offset, Date::ITALY)
  end
end
