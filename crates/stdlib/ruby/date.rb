# date: Date and DateTime.
#
# A date is a chronological Julian day number (of UTC), seconds of that day, a fraction of a second in nanoseconds (Integer or Rational), an offset in
# seconds, and the day number from which the Gregorian calendar counts. What is read off it (year, month, ...) is kept when first asked for.
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
    def initialize(d = 1) = @d = d <=> 0

    def d = @d
    protected :d

    def zero? = false
    def finite? = false
    def infinite? = d.nonzero?
    def nan? = d.zero?
    def abs = self.class.new
    def -@ = self.class.new(-d)
    def +@ = self.class.new(+d)

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

    def coerce(other)
      case other
      when Numeric then [-d, d]
      else super
      end
    end

    def to_f
      return 0.0 if @d == 0
      @d > 0 ? Float::INFINITY : -Float::INFINITY
    end
  end

  class << self
    # Calendar arithmetic. Day numbers by the usual formulas over years that begin in March.

    private def __civil_to_jd(y, m, d, start)
      a = (14 - m) / 12
      y2 = y + 4800 - a
      days = d + (153 * (m + 12 * a - 3) + 2) / 5 + 365 * y2 + y2.div(4)
      jd = days - y2.div(100) + y2.div(400) - 32045
      jd < start ? days - 32083 : jd
    end

    private def __jd_to_civil(jd, start)
      if jd >= start
        a = jd + 32044
        b = (4 * a + 3).div(146097)
        c = a - (146097 * b).div(4)
      else
        b = 0
        c = jd + 32082
      end
      d = (4 * c + 3).div(1461)
      e = c - (1461 * d).div(4)
      m = (5 * e + 2) / 153
      [100 * b + d - 4800 + m / 10, m + 3 - 12 * (m / 10), e - (153 * m + 2) / 5 + 1]
    end

    private def __commercial_to_jd(y, w, d, start)
      jan4 = __civil_to_jd(y, 1, 4, start)
      jan4 - jan4 % 7 + 7 * (w - 1) + (d - 1)
    end

    private def __jd_to_commercial(jd, start)
      y = __jd_to_civil(jd - 3, start)[0]
      y += 1 if jd >= __commercial_to_jd(y + 1, 1, 1, start)
      first = __commercial_to_jd(y, 1, 1, start)
      [y, (jd - first).div(7) + 1, jd % 7 + 1]
    end

    # The first (or last) day of a year that exists.
    private def __year_start(y, start)
      31.times do |i|
        jd = __valid_civil_jd(y, 1, i + 1, start)
        return jd if jd
      end
      nil
    end

    private def __year_end(y, start)
      31.times do |i|
        jd = __valid_civil_jd(y, 12, 31 - i, start)
        return jd if jd
      end
      nil
    end

    # Day number of a civil date that exists; negative months and days count from the end.
    private def __valid_civil_jd(y, m, d, start)
      m += 13 if m < 0
      return if m < 1 || m > 12
      if d < 0
        last = nil
        31.downto(1) { |i| break if last = __valid_civil_jd(y, m, i, start) }
        return unless last
        jd = last + d + 1
        c = __jd_to_civil(jd, start)
        return c[0] == y && c[1] == m ? jd : nil
      end
      return if d < 1 || d > 31
      jd = __civil_to_jd(y, m, d, start)
      return jd if d < 29 && (jd >= start && start <= jd - 31 || jd < start - 31)
      c = __jd_to_civil(jd, start)
      c[0] == y && c[1] == m && c[2] == d ? jd : nil
    end

    private def __valid_ordinal_jd(y, d, start)
      if d < 0
        last = __year_end(y, start) or return
        jd = last + d + 1
      else
        first = __year_start(y, start) or return
        jd = first + d - 1
      end
      d != 0 && __jd_to_civil(jd, start)[0] == y ? jd : nil
    end

    private def __valid_commercial_jd(y, w, d, start)
      d += 8 if d < 0
      return if d < 1 || d > 7
      if w < 0
        nw = __jd_to_commercial(__commercial_to_jd(y + 1, 1, 1, start) + w * 7, start)
        return unless nw[0] == y
        w = nw[1]
      end
      jd = __commercial_to_jd(y, w, d, start)
      __jd_to_commercial(jd, start) == [y, w, d] ? jd : nil
    end

    # Weeks that begin on Sunday (f = 0) or Monday (f = 1), as %U and %W count them.
    private def __valid_weeknum_jd(y, w, d, f, start)
      d += 7 if d < 0
      return if d < 0 || d > 6
      first = __year_start(y, start) + 6
      jd = first - (first - f + 1) % 7 - 7 + 7 * w + d
      __jd_to_civil(jd, start)[0] == y ? jd : nil
    end

    private def __integer(value, name)
      case value
      when Integer then value
      when Numeric
        i = value.to_i
        value == i ? i : value
      when nil then raise TypeError, "invalid #{name} (not numeric)"
      else raise TypeError, "invalid #{name} (not numeric)"
      end
    end

    private def __start(start)
      raise TypeError, "invalid start (not numeric)" unless Numeric === start
      unless start.is_a?(Float) && start.infinite? || start.between?(2298874, 2426355)
        warn "invalid start is ignored"
        return ITALY
      end
      start
    end

    # A last element with a fraction of a day: the whole part and the fraction.
    private def __split(value, name)
      raise TypeError, "invalid #{name} (not numeric)" unless Numeric === value
      whole = value.floor
      # Of a Float nobody means more than its nanoseconds.
      [whole, value.is_a?(Integer) ? 0 : value.is_a?(Float) ? Rational(((value - whole) * 86_400_000_000_000).round, 86_400_000_000_000) : value.to_r - whole]
    end

    # A Date has no time of day: the fraction goes.
    private def __make(jd, _fraction, start)
      date = allocate
      date.__send__(:__set, jd, 0, 0, 0, start)
      date
    end

    def valid_jd?(jd, start = ITALY) = Numeric === jd

    def valid_civil?(y, m, d, start = ITALY)
      return false unless [y, m, d].all?(Numeric)
      !!__valid_civil_jd(y.to_i, m.to_i, d.to_i, start)
    end
    alias valid_date? valid_civil?

    def valid_ordinal?(y, d, start = ITALY)
      return false unless [y, d].all?(Numeric)
      !!__valid_ordinal_jd(y.to_i, d.to_i, start)
    end

    def valid_commercial?(y, w, d, start = ITALY)
      return false unless [y, w, d].all?(Numeric)
      !!__valid_commercial_jd(y.to_i, w.to_i, d.to_i, start)
    end

    def gregorian_leap?(y)
      raise TypeError, "invalid year (not numeric)" unless Numeric === y
      y % 4 == 0 && y % 100 != 0 || y % 400 == 0
    end
    alias leap? gregorian_leap?

    def julian_leap?(y)
      raise TypeError, "invalid year (not numeric)" unless Numeric === y
      y % 4 == 0
    end

    def civil(y = -4712, m = 1, d = 1, start = ITALY)
      if Integer === y && Integer === m && Integer === d
        fraction = 0
      else
        y = __integer(y, "year")
        m = __integer(m, "month")
        d, fraction = __split(d, "day")
      end
      jd = __valid_civil_jd(y, m, d, start.equal?(ITALY) ? start : __start(start)) or raise Error, "invalid date"
      __make(jd, fraction, start)
    end

    def jd(jd = 0, start = ITALY)
      jd, fraction = __split(jd, "jd")
      __make(jd, fraction, __start(start))
    end

    def ordinal(y = -4712, d = 1, start = ITALY)
      y = __integer(y, "year")
      d, fraction = __split(d, "yday")
      jd = __valid_ordinal_jd(y, d, __start(start)) or raise Error, "invalid date"
      __make(jd, fraction, start)
    end

    def commercial(y = -4712, w = 1, d = 1, start = ITALY)
      y = __integer(y, "year")
      w = __integer(w, "cweek")
      d, fraction = __split(d, "cwday")
      jd = __valid_commercial_jd(y, w, d, __start(start)) or raise Error, "invalid date"
      __make(jd, fraction, start)
    end

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

  def self.new(*args)
    return civil(*args) if equal?(Date)
    object = allocate
    object.__send__(:initialize, *args)
    object
  end

  def initialize(y = -4712, m = 1, d = 1, start = ITALY)
    date = Date.civil(y, m, d, start)
    __set(*date.__send__(:__parts))
  end

  def initialize_copy(other)
    __set(*other.__send__(:__parts))
    self
  end

  private def __set(jd, df, sf, of, start)
    @jd = jd
    @df = df
    @sf = sf
    @of = of
    @start = start
    @civil = @ljd = nil
  end

  private def __parts = [@jd, @df, @sf, @of, @start]

  # The same class with another moment.
  private def __with(jd, df, sf, of = @of, start = @start)
    copy = self.class.allocate
    copy.__send__(:__set, jd, df, sf, of, start)
    copy
  end

  # Day number where the clock shows it.
  def jd
    return @jd if @of == 0
    (@jd * 86400 + @df + @of).div(86400)
  end

  private def __local_seconds = (@df + @of) % 86400

  private def __civil
    return @civil if @civil
    civil = Date.__send__(:__jd_to_civil, jd, @start)
    @civil = civil unless frozen?
    civil
  end

  def year = __civil[0]
  def mon = __civil[1]
  alias month mon
  def mday = __civil[2]
  alias day mday

  def wday = (jd + 1) % 7
  def yday = jd - Date.__send__(:__year_start, year, @start) + 1

  def cwyear = Date.__send__(:__jd_to_commercial, jd, @start)[0]
  def cweek = Date.__send__(:__jd_to_commercial, jd, @start)[1]
  def cwday = jd % 7 + 1

  DAYNAMES.each_with_index { |name, i| define_method(:"#{name.downcase}?") { wday == i } }

  def mjd = jd - 2400001
  def ld = jd - 2299160
  def ajd = (@jd * 86400 + @df + Rational(@sf, 1_000_000_000)).to_r / 86400 - 1r / 2
  def amjd = ajd - 4800001r / 2
  def day_fraction = Rational(__local_seconds * 1_000_000_000 + @sf, 86_400_000_000_000)

  def start = @start.to_f
  def julian? = jd < @start
  def gregorian? = !julian?

  def leap?
    y = year
    return Date.gregorian_leap?(y) if gregorian? && jd - @start > 366 || @start == GREGORIAN
    Date.__send__(:__jd_to_civil, Date.__send__(:__civil_to_jd, y, 3, 1, @start) - 1, @start)[2] == 29
  end

  def new_start(start = ITALY) = __with(@jd, @df, @sf, @of, Date.__send__(:__start, start))
  def italy = new_start(ITALY)
  def england = new_start(ENGLAND)
  def julian = new_start(JULIAN)
  def gregorian = new_start(GREGORIAN)

  private

  def hour = __local_seconds / 3600
  def min = __local_seconds / 60 % 60
  alias minute min
  def sec = __local_seconds % 60
  alias second sec
  def sec_fraction = Rational(@sf, 1_000_000_000)
  alias second_fraction sec_fraction

  public

  private def offset = Rational(@of, 86400)

  private def zone
    a = @of.abs
    format("%s%02d:%02d", @of < 0 ? "-" : "+", a / 3600, a / 60 % 60).force_encoding(Encoding::US_ASCII)
  end

  def +(other)
    case other
    when Integer
      return __with(@jd + other, @df, @sf)
    when Float
      raise FloatDomainError, other.to_s unless other.finite?
      whole = other.floor
      ns = ((other - whole) * 86_400_000_000_000).round
    when Rational
      whole = other.floor
      ns = (other - whole) * 86_400_000_000_000
      ns = ns.to_i if ns.denominator == 1
    when Numeric
      raise TypeError, "expected numeric" unless other.real?
      number = other.to_r
      raise TypeError, "wrong argument type #{number.class} (expected Rational)" unless Rational === number
      return self + number
    else
      raise TypeError, "expected numeric"
    end
    ns += @sf
    seconds = @df + ns.div(1_000_000_000)
    sf = ns % 1_000_000_000
    sf = sf.to_i if sf.is_a?(Rational) && sf.denominator == 1
    __with(@jd + whole + seconds.div(86400), seconds % 86400, sf)
  end

  def -(other)
    case other
    when Date
      jd, df, sf = other.__send__(:__parts)
      Rational(((@jd - jd) * 86400 + @df - df) * 1_000_000_000 + @sf - sf, 86_400_000_000_000)
    when Numeric then self + -other
    else raise TypeError, "expected numeric"
    end
  end

  def >>(months)
    raise TypeError, "expected numeric" unless Numeric === months
    t = year * 12 + mon - 1 + months.to_i
    y, m = t.divmod(12)
    d = mday
    until to = Date.__send__(:__valid_civil_jd, y, m + 1, d, @start)
      d -= 1
      raise Error, "invalid date" if d < 1
    end
    self + (to - jd)
  end

  def <<(months)
    raise TypeError, "expected numeric" unless Numeric === months
    self >> -months
  end

  def next_day(n = 1) = self + n
  def prev_day(n = 1) = self - n
  def next = next_day
  alias succ next
  def next_month(n = 1) = self >> n
  def prev_month(n = 1) = self << n
  def next_year(n = 1) = self >> n * 12
  def prev_year(n = 1) = self << n * 12

  def <=>(other)
    case other
    when Date
      jd, df, sf = other.__send__(:__parts)
      c = @jd <=> jd
      return c unless c == 0
      c = @df <=> df
      c == 0 ? @sf <=> sf : c
    when Numeric then ajd <=> other
    end
  end

  def ==(other)
    return super unless Date === other
    (self <=> other) == 0
  end

  def ===(other)
    case other
    when Date then jd == other.jd
    when Numeric then jd == other.to_i
    else false
    end
  end

  def eql?(other) = Date === other && self == other
  def hash = [@jd, @df, @sf].hash

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

  def upto(max, &block)
    return to_enum(:upto, max) unless block
    step(max, 1, &block)
  end

  def downto(min, &block)
    return to_enum(:downto, min) unless block
    step(min, -1, &block)
  end

  def infinite? = false

  # What is made of these is ASCII, as are they.
  DAY = "%Y-%m-%d".encode(Encoding::US_ASCII).freeze
  MOMENT = "%Y-%m-%dT%H:%M:%S%:z".encode(Encoding::US_ASCII).freeze
  private_constant :DAY, :MOMENT

  def strftime(format = DAY)
    format = format.to_str
    if format.match?(/%[-0^#_\d]*[Q+]/)
      format = format.gsub(/%%|%[-0^#_\d]*[Q+]/) do |m|
        case m[-1]
        when "%" then m
        when "Q" then ((@jd - UNIX_EPOCH_IN_CJD) * 86_400_000 + @df * 1000 + @sf.div(1_000_000)).to_s
        else "%a %b %e %H:%M:%S %Z %Y"
        end
      end
    end
    y, m, d = __civil
    digits = @sf.is_a?(Rational) ? (@sf % 1 * 10**15).to_i.to_s.rjust(15, "0") : ""
    Date.__send__(:__format, format, y, m, d, hour, min, sec, @sf.to_i, @of, zone, wday, yday, digits)
  end

  def to_s = strftime(DAY)
  def iso8601 = strftime(DAY)
  alias xmlschema iso8601
  def rfc3339 = strftime("%Y-%m-%dT%H:%M:%S%:z")
  def rfc2822 = strftime("%a, %-d %b %Y %T %z")
  alias rfc822 rfc2822
  def httpdate = __with(@jd, @df, @sf, 0).strftime("%a, %d %b %Y %T GMT")
  def asctime = strftime("%a %b %e %H:%M:%S %Y")
  alias ctime asctime
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

  def inspect
    text = "#<#{self.class}: #{self} ((#{@jd}j,#{@df}s,#{@sf.is_a?(Rational) ? "(#{@sf})" : @sf}n),#{@of < 0 ? "-" : "+"}#{@of.abs}s,#{@start.is_a?(Float) && @start.infinite? ? (@start > 0 ? "Inf" : "-Inf") : @start.to_i}j)>"
    text.ascii_only? ? text.force_encoding(Encoding::US_ASCII) : text
  end

  def to_date = instance_of?(Date) ? self : Date.jd(jd, @start)

  def to_datetime
    date = DateTime.allocate
    date.__send__(:__set, @jd, 0, 0, 0, @start)
    date
  end

  def to_time
    date = julian? ? gregorian : self
    Time.local(date.year, date.mon, date.mday)
  end

  def deconstruct_keys(keys) = __deconstruct(keys, %i[year month day yday wday])

  private def __deconstruct(keys, known)
    raise TypeError, "wrong argument type #{keys.class} (expected Array or nil)" unless keys.nil? || Array === keys
    (keys ? keys & known : known).to_h { |k| [k, __send__(k)] }
  end

  def marshal_dump = [0, @jd, @df, @sf, @of, @start]

  def marshal_load(array)
    raise TypeError, "expected array" unless Array === array
    case array.size
    when 6 then __set(*array[1..])
    when 2
      jd, start = array
      __set(jd, 0, 0, 0, Numeric === start ? start : start ? GREGORIAN : JULIAN)
    when 3
      ajd, of, start = array
      ns = (ajd + 1r / 2) * 86_400_000_000_000
      seconds, sf = ns.divmod(1_000_000_000)
      jd, df = seconds.divmod(86400)
      __set(jd, df, sf.denominator == 1 ? sf.to_i : sf, (of * 86400).to_i, start)
    else raise TypeError, "invalid size"
    end
    self
  end

  def freeze
    __civil
    super
  end

  # Instance variables are none of the program's business.
  def instance_variables = super - %i[@jd @df @sf @of @start @civil @ljd]
end

# A Date with a time of day and an offset.
class DateTime < Date
  class << self
    private def __offset(of)
      case of
      when String
        seconds = Date.__send__(:__zone_to_diff, of)
        unless seconds
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

    # The moment of a local day number and time of day.
    private def __at(jd, h, min, s, of, start)
      whole = ->(n) { Integer === n || !(Numeric === n) || n % 1 == 0 }
      raise Date::Error, "invalid fraction" if (min || s) && !whole.(h) || s && !whole.(min)
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
      ns %= 1_000_000_000
      ns = ns.to_i if ns.is_a?(Rational) && ns.denominator == 1
      date = allocate
      date.__send__(:__set, total.div(86400), total % 86400, ns, of, start)
      date
    end

    def civil(y = -4712, m = 1, d = 1, h = nil, min = nil, s = nil, of = 0, start = Date::ITALY)
      y = __integer(y, "year")
      m = __integer(m, "month")
      d, fraction = __split(d, "day")
      jd = __valid_civil_jd(y, m, d, __start(start)) or raise Date::Error, "invalid date"
      raise Date::Error, "invalid fraction" if fraction != 0 && h
      date = __at(jd, h, min, s, __offset(of), start)
      fraction == 0 ? date : date + fraction
    end

    def jd(jd = 0, h = nil, min = nil, s = nil, of = 0, start = Date::ITALY)
      jd, fraction = __split(jd, "jd")
      date = __at(jd, h, min, s, __offset(of), __start(start))
      fraction == 0 ? date : date + fraction
    end

    def ordinal(y = -4712, d = 1, h = nil, min = nil, s = nil, of = 0, start = Date::ITALY)
      d, fraction = __split(d, "yday")
      jd = __valid_ordinal_jd(__integer(y, "year"), d, __start(start)) or raise Date::Error, "invalid date"
      raise Date::Error, "invalid fraction" if fraction != 0 && h
      date = __at(jd, h, min, s, __offset(of), start)
      fraction == 0 ? date : date + fraction
    end

    def commercial(y = -4712, w = 1, d = 1, h = nil, min = nil, s = nil, of = 0, start = Date::ITALY)
      d, fraction = __split(d, "cwday")
      jd = __valid_commercial_jd(__integer(y, "year"), __integer(w, "cweek"), d, __start(start)) or raise Date::Error, "invalid date"
      raise Date::Error, "invalid fraction" if fraction != 0 && h
      date = __at(jd, h, min, s, __offset(of), start)
      fraction == 0 ? date : date + fraction
    end

    def now(start = Date::ITALY)
      date = allocate
      date.__send__(:__set, *Time.now.to_datetime.new_start(start).__send__(:__parts))
      date
    end

    undef_method :today
  end

  def self.new(*args)
    return civil(*args) if equal?(DateTime)
    object = allocate
    object.__send__(:initialize, *args)
    object
  end

  def initialize(*args)
    __set(*DateTime.civil(*args).__send__(:__parts))
  end

  public :hour, :min, :minute, :sec, :second, :sec_fraction, :second_fraction, :offset, :zone

  def new_offset(of = 0) = __with(@jd, @df, @sf, DateTime.__send__(:__offset, of))

  def strftime(format = MOMENT) = super
  def to_s = strftime(MOMENT)

  def iso8601(n = 0) = strftime("%Y-%m-%d") + __iso_time(n)
  alias xmlschema iso8601
  def rfc3339(n = 0) = iso8601(n)
  def jisx0301(n = 0) = super() + __iso_time(n)

  private def __iso_time(n) = strftime((n = n.to_i) > 0 ? "T%H:%M:%S.%#{n}N%:z" : "T%H:%M:%S%:z")

  def to_date = Date.jd(jd, @start)
  def to_datetime = self

  def to_time
    d = @of == 0 && @start != Date::ITALY ? self : new_start(GREGORIAN)
    Time.new(d.year, d.mon, d.mday, d.hour, d.min, d.sec + d.sec_fraction, @of)
  end

  def deconstruct_keys(keys) = __deconstruct(keys, %i[year month day yday wday hour min sec sec_fraction zone])
end

class Time
  def to_time = self

  def to_date = Date.civil(year, mon, mday, Date::GREGORIAN).new_start(Date::ITALY)

  def to_datetime
    seconds = to_i
    date = DateTime.allocate
    ns = subsec * 1_000_000_000
    ns = ns.to_i if ns.denominator == 1
    date.__send__(:__set, 2440588 + seconds.div(86400), seconds % 86400, ns, utc_offset, Date::ITALY)
    date
  end
end
