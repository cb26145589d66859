# date: text to dates. `_strptime` follows a format; `_parse` looks for what it knows: a time, then a date with month names, in ISO 8601 form,
# with slashes or dots, or of digits alone. Both give a Hash of elements; the rest of the file makes dates of such Hashes.
class Date
  # Hours east of Greenwich, by names; Windows' names before "Standard Time".
  ZONES = {
    -12 => "aoe|dateline|idlw", -11 => "nt|nut|samoa|sst", -10 => "ahst|ckt|hast|hawaiian|hst|taht", -9 => "akst|alaskan|gamt|hadt|hdt|yst",
    -8.5 => "mart", -8 => "akdt|pacific|pst|ydt", -7 => "mountain|mst|pdt|us mountain",
    -6 => "canada central|central|central america|cst|east|galt|mdt|mexico", -5 => "act|cdt|cist|cot|easst|eastern|ect|est|pet|sa pacific|us eastern",
    -4 => "ast|atlantic|bot|cidst|clt|edt|fkt|gyt|pacific sa|sa western|vet", -3.5 => "newfoundland",
    -3 => "adt|art|brt|clst|e. south america|fkst|gft|greenland|pmst|pyst|rott|sa eastern|srt|uyt|warst", -2.5 => "nst",
    -2 => "at|brst|fnt|mid-atlantic|pmdt|uyst|wgt", -1.5 => "ndt", -1 => "azores|azot|cape verde|cvt|egt|wgst",
    0 => "azost|egst|gmt|greenwich|ut|utc|wet|wt",
    1 => "bst|central europe|central european|cet|fwt|met|mewt|mez|romance|swt|w. central africa|w. europe|wat|west",
    2 => "cat|cest|e. europe|eet|egypt|fle|fst|gtb|jerusalem|mest|mesz|sast|south africa|wast",
    3 => "arab|arabic|bt|e. africa|eat|eest|fet|idt|msk|russian|syot|trt", 3.5 => "iran|irst",
    4 => "arabian|azt|caucasus|get|kuyt|msd|mut|ret|samt|sct|zp4", 4.5 => "afghanistan|aft|irdt",
    5 => "aqtt|azst|ekaterinburg|mawt|mvt|orat|pkt|tft|tjt|tmt|uzt|west asia|yekt|zp5", 5.5 => "india|ist", 5.75 => "nepal|npt",
    6 => "almt|btt|central asia|iot|kgt|n. central asia|omst|qyzt|sri lanka|vost|yekst|zp6", 6.5 => "cct|mmt|myanmar",
    7 => "cxt|davt|hovt|ict|krat|north asia|novst|novt|omsst|se asia|wib",
    8 => "awst|bnt|cast|china|chot|hkt|hovst|irkt|krast|malay peninsula|myt|north asia east|pht|sgt|taipei|ulat|w. australia|wadt|wita", 8.75 => "acwst",
    9 => "awdt|chost|irkst|jst|korea|kst|pwt|tlt|tokyo|ulast|wit|yakt|yakutsk", 9.5 => "acst|aus central|cen. australia",
    10 => "aest|aus eastern|chst|chut|ddut|e. australia|gst|pgt|tasmania|vladivostok|vlat|west pacific|yakst|yapt", 10.5 => "acdt|lhst",
    11 => "aedt|central pacific|eadt|kost|lhdt|magt|nct|nft|pont|sakt|sbt|sret|vlast|vut",
    12 => "anast|anat|fiji|fjt|gilt|idle|magst|mht|new zealand|nfdt|nrt|nzst|nzt|petst|pett|tvt|wakt|wft", 12.75 => "chast",
    13 => "fjst|nzdt|phot|tkt|tonga|tot", 13.75 => "chadt", 14 => "lint|tost"
  }.flat_map { |hours, names| names.split("|").map { |name| [name, hours] } }.to_h.merge(
    [*"a".."i"].each_with_index.to_h { |c, i| [c, i + 1] }, [*"k".."m"].each_with_index.to_h { |c, i| [c, i + 10] },
    [*"n".."y"].each_with_index.to_h { |c, i| [c, -i - 1] }, "z" => 0
  ).transform_values { |hours| (hours * 3600).to_i }.freeze
  MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
  DAYS = "sun|mon|tue|wed|thu|fri|sat"
  # Numbers of months by what their names begin with.
  MONTH_NUMBERS = MONTHS.split("|").each.with_index(1).to_h.freeze
  ERA = /c(?:e|\.e\.)|b(?:ce|\.c\.e\.)|a(?:d|\.d\.)|b(?:c|\.c\.)/i
  GENGO = { "m" => 1867, "t" => 1911, "s" => 1925, "h" => 1988, "r" => 2018 }.freeze
  HALF_OF_DAY = /[ap](?:m\b|\.m\.)/i
  # A time of day: numbers with colons or with an h, or one number before noon or after it; and a zone, for which any word is taken.
  TIME = /((?:\d+\s*:\s*\d+(?:\s*:\s*\d+(?:[,.]\d*)?)?|\d+\s*h(?:\s*\d+m?(?:\s*\d+s?)?)?)(?:\s*#{HALF_OF_DAY})?|\d+\s*#{HALF_OF_DAY})
    (?:\s*((?:gmt|utc?)?[-+]\d+(?:[,.:]\d+(?::\d+)?)?|[[:alpha:].\s]+(?:standard|daylight)\stime\b|[[:alpha:]]+(?:\sdst)?\b))?/ix
  # The forms of dates in the order in which they are looked for: the first one that is found counts, wherever it stands.
  FORMS = {
    day_first: /('?\d+)[^-\d\s]*\s*(#{MONTHS})[^-\d\s']*(?:\s*(#{ERA})?\s*('?-?\d+(?:(?:st|nd|rd|th)\b)?))?/i,
    month_first: /\b(#{MONTHS})[^-\d\s']*\s*('?\d+)[^-\d\s']*(?:\s*,?\s*(#{ERA})?\s*('?-?\d+))?/i,
    numbers: /('?[-+]?\d+)-(\d+)-('?-?\d+)/,
    japanese: /\b([mtshr])(\d+)\.(\d+)\.(\d+)/i,
    day_dash_month: /('?-?\d+)-(#{MONTHS})[^-\/.]*-('?-?\d+)/i,
    month_dash_day: /\b(#{MONTHS})[^-\/.]*-('?-?\d+)(?:-('?-?\d+))?/i,
    slashes: %r{('?-?\d+)/\s*('?\d+)(?:\D\s*('?-?\d+))?},
    points: /('?-?\d+)\.\s*('?\d+)\.\s*('?-?\d+)/,
    week: /\b(\d{2}|\d{4})?-?w(\d{2})(?:-?(\d))?\b/i,
    day_of_week: /-w-(\d)\b/i,
    month_and_day: /--(\d{2})?-(\d{2})\b/,
    digits_without_year: /--(\d{2})(\d{2})?\b/,
    day_of_year: /\b(\d{2}|\d{4})-(\d{3})\b/,
    day_of_some_year: /(?<!\d)\b-(\d{3})\b/,
    year: /'(\d+)\b/,
    month: /\b(#{MONTHS})\S*/i,
    day: /(\d+)(?:st|nd|rd|th)\b/i,
    digits: /([-+]?)(\d{2,14})(?:\s*t?\s*(\d{2,6})?(?:[,.](\d*))?)?\s*(z\b|[-+]\d{1,4}\b|\[[-+]?\d[^\]]*\])?/i
  }.freeze
  private_constant :ZONES, :MONTHS, :DAYS, :MONTH_NUMBERS, :ERA, :GENGO, :HALF_OF_DAY, :TIME, :FORMS

  class << self
    # Seconds east of Greenwich, or nil.
    private def __zone_to_diff(zone)
      z = zone.strip.downcase.squeeze(" ")
      if (m = z.match(/\A\[(.*?)(?::.*)?\]\z/)) && !z.match?(/\A\[[-+]?\d+:\d/)
        z = m[1]
      end
      dst = false
      if z.sub!(/ standard time\z/, "") || z.sub!(/ (?:daylight time|dst)\z/, "")
        dst = !zone.match?(/standard/i)
      end
      z = z.strip
      if seconds = ZONES[z] then return dst ? seconds + 3600 : seconds end
      z = z.sub(/\A(?:gmt|utc)(?=[-+])/, "")
      case z
      when /\A([-+]?)(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?\z/
        h, m, s = $2.to_i, $3.to_i, $4.to_i
        return if h > 23 || m > 59 || s > 59
        total = h * 3600 + m * 60 + s
      when /\A([-+])(\d+)[.,](\d+)\z/
        return if $2.to_i > 23
        # Seven digits of the fraction count.
        total = $2.to_i * 3600 + Rational($3.to_i, 10**$3.size).round(7) * 3600
        total = total.to_i if total.denominator == 1
      when /\A([-+])(\d+)\z/
        d = $2
        d = "0#{d}" if d.size.odd?
        total = d[0, 2].to_i * 3600 + d[2, 2].to_i * 60 + d[4, 2].to_i
      else return
      end
      $1 == "-" ? -total : total
    end

    private def __check_limit(string, limit)
      raise TypeError, "no implicit conversion of #{string.nil? ? "nil" : string.class} into String" unless string.respond_to?(:to_str)
      string = string.to_str
      raise ArgumentError, "string length (#{string.size}) exceeds the limit #{limit}" if limit && string.size > limit
      string
    end

    private def __parse_hash(string, comp = true, limit: 128)
      s = __check_limit(string, limit).gsub(%r{[^-+',./:@[:alnum:]\[\]]+}, " ")
      h = {}
      if m = __cut(s, /\b(#{DAYS})[^-\/\d\s]*/io)
        h[:wday] = DAYS.split("|").index(m[1].downcase)
      end
      __parse_time(s, h)
      __parse_date(s, h)
      h[:before_christ] = true if __cut(s, /\b(?:bc\b|bce\b|b\.c\.|b\.c\.e\.)/i)
      before_christ = h.delete(:before_christ)
      # A lone number beside a time, or beside a date.
      if m = __cut(s, /\A\s*(\d{1,2})\s*\z/)
        n = m[1].to_i
        if h[:hour] && !h[:mday] then h[:mday] = n if n.between?(1, 31)
        elsif h[:mday] && !h[:hour] then h[:hour] = n if n <= 24
        end
      end
      comp = false if h.delete(:as_written)
      %i[cwyear year].each do |key|
        y = h[key] or next
        y = 1 - y if before_christ
        y += y >= 69 ? 1900 : 2000 if comp && y.between?(0, 99)
        h[key] = y
      end
      h[:offset] = __zone_to_diff(h[:zone]) if h[:zone] && !h.key?(:offset)
      h
    end

    # Takes what matches out of a text, for a blank. The match, or nil.
    private def __cut(s, pattern)
      s.sub!(pattern, " ") && $~
    end

    private def __parse_time(s, h)
      m = __cut(s, TIME) or return
      h[:zone] = m[2] if m[2]
      m = m[1].match(/\A(\d+)h?(?:\s*:?\s*(\d+)m?(?:\s*:?\s*(\d+)(?:[,.](\d*))?s?)?)?(?:\s*([ap])(?:m\b|\.m\.))?/i) or return
      h[:hour] = m[1].to_i
      if m[5]
        raise RangeError, "bignum too big to convert into 'long'" if h[:hour] >= 1 << 63
        raise RangeError, "integer #{h[:hour]} too big to convert to 'int'" if h[:hour] >= 1 << 31
        h[:hour] = h[:hour] % 12 + (m[5].casecmp?("p") ? 12 : 0)
      end
      h[:min] = m[2].to_i if m[2]
      h[:sec] = m[3].to_i if m[3]
      h[:sec_fraction] = __decimal(m[4]) unless m[4].to_s.empty?
    end

    private def __decimal(digits) = Rational(digits.to_i, 10**digits.size)

    # Three elements, texts of numbers or nil, whose order their looks must tell.
    private def __three(h, y, m, d, era = nil)
      y, m, d = nil, y, m if y && m && !d
      year_like = ->(t) { t && (t.start_with?("'") || t.size > 2) }
      y, d = d, nil if !y && year_like.(d)
      # "3rd" is no year.
      if y && (number = y[/[-+]?\d+/]) && !y.end_with?(number)
        y, d = d, number
      end
      y, m, d = m, d, y if year_like.(m)
      y, d = d, y if year_like.(d)
      if y
        number = y[/[-+]?\d+/]
        h[:year] = number.to_i
        # Two digits without a sign are of this age.
        h[:as_written] = true if number.size > 2 || number.start_with?("-", "+")
      end
      h[:before_christ] = true if era&.match?(/\Ab/i)
      h[:mon] = m[/\d+/].to_i if m
      h[:mday] = d[/\d+/].to_i if d
    end

    private def __parse_date(s, h)
      month = ->(text) { MONTH_NUMBERS[text[0, 3].downcase].to_s }
      FORMS.each do |form, pattern|
        case form
        # A fraction of a second, or the end of a date, has dashes and digits of its own.
        when :day_of_year then next if s.match?(/[,.](?:\d{2}|\d{4})-\d{3}\b/)
        when :day_of_some_year then next if s.match?(/\d-\d{3}\b/)
        end
        m = __cut(s, pattern) or next
        case form
        when :day_first then __three(h, m[4], month.(m[2]), m[1], m[3])
        when :month_first then __three(h, m[4], month.(m[1]), m[2], m[3])
        when :numbers, :slashes, :points then __three(h, m[1], m[2], m[3])
        when :japanese
          h[:year], h[:mon], h[:mday] = m[2].to_i + GENGO[m[1].downcase], m[3].to_i, m[4].to_i
        when :day_dash_month then __three(h, m[3], month.(m[2]), m[1])
        when :month_dash_day then __three(h, m[3], month.(m[1]), m[2])
        when :week
          h[:cwyear] = m[1].to_i if m[1]
          h[:cweek] = m[2].to_i
          h[:cwday] = m[3].to_i if m[3]
        when :day_of_week then h[:cwday] = m[1].to_i
        when :month_and_day, :digits_without_year
          h[:mon] = m[1].to_i if m[1]
          h[:mday] = m[2].to_i if m[2]
        when :day_of_year then h[:year], h[:yday] = m[1].to_i, m[2].to_i
        when :day_of_some_year then h[:yday] = m[1].to_i
        when :year then h[:year] = m[1].to_i
        when :month then h[:mon] = month.(m[1]).to_i
        when :day then h[:mday] = m[1].to_i
        when :digits then __parse_digits(h, *m.captures)
        end
        break
      end
    end

    # Digits alone mean what their number says; with a fraction behind them and no time between, they end with seconds.
    private def __parse_digits(h, sign, digits, time, fraction, zone)
      if fraction && !time
        rest = digits
        rest = "" if digits.size.odd? && digits.size > 8
        %i[sec min hour mday mon].each do |key|
          break if rest.empty?
          h[key] = rest[-2, 2]&.to_i || rest.to_i
          rest = rest[0...-2] || ""
        end
        unless rest.empty?
          h[:year] = rest.to_i
          h[:as_written] = true if rest.size > 2
          h[:year] = -h[:year] if sign == "-"
        end
      else
        keys = case digits.size
               when 2 then { mday: 2 }
               when 3 then { yday: 3 }
               when 4 then { mon: 2, mday: 2 }
               when 5 then { year: 2, yday: 3 }
               when 6 then { year: 2, mon: 2, mday: 2 }
               when 7 then { year: 4, yday: 3 }
               when 8, 10, 12, 14 then { year: 4, mon: 2, mday: 2, hour: 2, min: 2, sec: 2 }
               else {}
               end
        at = 0
        keys.each do |key, width|
          break if at == digits.size
          h[key] = digits[at, width].to_i
          at += width
        end
        h[:as_written] = true if digits.size >= 8
        h[:year] = -h[:year] if sign == "-" && keys[:year]
      end
      if time
        # With a fraction the seconds are there, else the hour.
        parts = time.scan(/\d\d/).map(&:to_i)
        keys = fraction ? %i[sec min hour] : %i[hour min sec]
        parts.reverse! if fraction
        keys.zip(parts) { |key, n| h[key] = n if n } if time.size.even?
      end
      h[:sec_fraction] = __decimal(fraction) if fraction
      return unless zone
      h[:zone] = zone
      return unless zone.start_with?("[")
      offset, name = zone[1..-2].split(":", 2)
      h[:zone] = name || offset
      offset = "+#{offset}" if offset.match?(/\A\d/)
      h[:offset] = __zone_to_diff(offset)
    end

    # The strict forms.

    private def __fields(match, names)
      h = {}
      names.each do |name|
        text = match[name] or next
        h[name] = case name
                  when :sec_fraction then Rational(text.to_i, 10**text.size)
                  when :zone then text
                  when :mon then (text =~ /\d/ ? text.to_i : MONTHS.split("|").index(text.downcase) + 1)
                  when :wday then DAYS.split("|").index(text[0, 3].downcase)
                  else text.to_i
                  end
      end
      h[:offset] = __zone_to_diff(h[:zone]) if h[:zone]
      h
    end

    private def __iso8601_hash(string, limit: 128)
      return {} if string.nil?
      s = __check_limit(string, limit)
      time = /(?:t(?<hour>\d{2})(?::?(?<min>\d{2})(?::?(?<sec>\d{2})(?:[.,](?<sec_fraction>\d+))?)?)?\s*(?<zone>z|[-+]\d{2}(?::?\d{2})?)?)?/i
      case s
      when /\A\s*(?<year>[-+]?\d{2,})-(?<mon>\d{2})-(?<mday>\d{2})#{time}\s*\z/io, /\A\s*(?<year>[-+]?\d{4})(?<mon>\d{2})(?<mday>\d{2})#{time}\s*\z/io,
           /\A\s*(?<year>\d{4})(?<mon>\d{2})(?<mday>\d{2})(?<hour>\d{2})(?<min>\d{2})(?<sec>\d{2})?(?:[.,](?<sec_fraction>\d+))?(?<zone>z|[-+]\d{2}(?::?\d{2})?)?\s*\z/i
        h = __fields($~, %i[mday year mon hour min sec sec_fraction zone])
        h[:year] += h[:year] >= 69 ? 1900 : 2000 if $~[:year].size == 2
        h
      when /\A\s*(?<year>[-+]?\d{4})-?(?<yday>\d{3})#{time}\s*\z/io then __fields($~, %i[yday year hour min sec sec_fraction zone])
      when /\A\s*(?<year>\d{2})-?(?<yday>\d{3})#{time}\s*\z/io
        h = __fields($~, %i[yday year hour min sec sec_fraction zone])
        h[:year] += h[:year] >= 69 ? 1900 : 2000
        h
      when /\A\s*(?<cwyear>\d{2}|\d{4})-?w(?<cweek>\d{2})-?(?<cwday>\d)#{time}\s*\z/io
        h = __fields($~, %i[cwyear cweek cwday hour min sec sec_fraction zone])
        h[:cwyear] += h[:cwyear] >= 69 ? 1900 : 2000 if $~[:cwyear].size == 2
        h
      when /\A\s*--(?<mon>\d{2})-?(?<mday>\d{2})#{time}\s*\z/io then __fields($~, %i[mon mday hour min sec sec_fraction zone])
      when /\A\s*(?<year>[-+]?\d{4,})-(?<mon>\d{2})\s*\z/, /\A\s*--(?<mon>\d{2})\s*\z/ then __fields($~, $~.names.map(&:to_sym))
      when /\A\s*(?<year>\d{2})(?<mon>\d{2})(?<mday>\d{2})#{time}\s*\z/io
        h = __fields($~, %i[mday mon year hour min sec sec_fraction zone])
        h[:year] += h[:year] >= 69 ? 1900 : 2000
        h
      when /\A\s*---(?<mday>\d{2})#{time}\s*\z/io then __fields($~, %i[mday hour min sec sec_fraction zone])
      when /\A\s*-(?<yday>\d{3})#{time}\s*\z/io then __fields($~, %i[yday hour min sec sec_fraction zone])
      when /\A\s*-w(?<cweek>\d{2})-?(?<cwday>\d)#{time}\s*\z/io then __fields($~, %i[cweek cwday hour min sec sec_fraction zone])
      when /\A\s*-w-(?<cwday>\d)#{time}\s*\z/io then __fields($~, %i[cwday hour min sec sec_fraction zone])
      when /\A\s*(?<hour>\d{2}):?(?<min>\d{2})(?::?(?<sec>\d{2})(?:[.,](?<sec_fraction>\d+))?)?(?<zone>z|[-+]\d{2}(?::?\d{2})?)?\s*\z/i
        __fields($~, %i[hour min sec sec_fraction zone])
      else {}
      end
    end

    private def __rfc3339_hash(string, limit: 128)
      return {} if string.nil?
      m = __check_limit(string, limit).match(/\A\s*(?<year>-?\d{4})-(?<mon>\d{2})-(?<mday>\d{2})(?:t|\s)(?<hour>\d{2}):(?<min>\d{2}):(?<sec>\d{2})(?:\.(?<sec_fraction>\d+))?(?<zone>z|[-+]\d{2}:\d{2})\s*\z/i)
      m ? __fields(m, %i[year mon mday hour min sec zone sec_fraction]) : {}
    end

    private def __xmlschema_hash(string, limit: 128)
      return {} if string.nil?
      s = __check_limit(string, limit)
      zone = /(?<zone>z|[-+]\d{2}(?::\d{2})?)?/i
      case s
      when /\A\s*(?<year>-?\d{4,})(?:-(?<mon>\d{2})(?:-(?<mday>\d{2}))?)?(?:t(?<hour>\d{2}):(?<min>\d{2}):(?<sec>\d{2})(?:\.(?<sec_fraction>\d+))?)?#{zone}\s*\z/io
        __fields($~, %i[year mon mday hour min sec sec_fraction zone])
      when /\A\s*(?<hour>\d{2}):(?<min>\d{2}):(?<sec>\d{2})(?:\.(?<sec_fraction>\d+))?#{zone}\s*\z/io then __fields($~, %i[hour min sec sec_fraction zone])
      when /\A\s*--(?<mon>\d{2})(?:-(?<mday>\d{2}))?#{zone}\s*\z/io then __fields($~, %i[mon mday zone])
      when /\A\s*---(?<mday>\d{2})#{zone}\s*\z/io then __fields($~, %i[mday zone])
      else {}
      end
    end

    private def __rfc2822_hash(string, limit: 128)
      return {} if string.nil?
      m = __check_limit(string, limit).match(/\A\s*(?:(?<wday>#{DAYS})\s*,\s+)?(?<mday>\d{1,2})\s+(?<mon>#{MONTHS})\s+(?<year>-?\d{2,})\s+(?<hour>\d{2}):(?<min>\d{2})(?::(?<sec>\d{2}))?\s*(?<zone>[-+]\d{4}|[a-z]+)\s*\z/io)
      return {} unless m
      h = __fields(m, %i[wday mday mon year hour min sec zone])
      h[:year] += m[:year].size == 2 ? (h[:year] >= 50 ? 1900 : 2000) : 1900 if m[:year].size < 4
      h
    end

    private def __httpdate_hash(string, limit: 128)
      return {} if string.nil?
      s = __check_limit(string, limit)
      case s
      when /\A\s*(?<wday>#{DAYS})\s*,\s+(?<mday>\d{2})\s+(?<mon>#{MONTHS})\s+(?<year>-?\d{4})\s+(?<hour>\d{2}):(?<min>\d{2}):(?<sec>\d{2})\s+(?<zone>gmt)\s*\z/io
        __fields($~, %i[wday mday mon year hour min sec zone])
      when /\A\s*(?<wday>#{DAYNAMES.join("|")})\s*,\s+(?<mday>\d{2})\s*-\s*(?<mon>#{MONTHS})\s*-\s*(?<year>\d{2})\s+(?<hour>\d{2}):(?<min>\d{2}):(?<sec>\d{2})\s+(?<zone>gmt)\s*\z/io
        h = __fields($~, %i[wday mday mon year hour min sec zone])
        h[:year] += h[:year] >= 69 ? 1900 : 2000
        h
      when /\A\s*(?<wday>#{DAYS})\s+(?<mon>#{MONTHS})\s+(?<mday>\d{1,2})\s+(?<hour>\d{2}):(?<min>\d{2}):(?<sec>\d{2})\s+(?<year>\d{4})\s*\z/io
        __fields($~, %i[wday mon mday hour min sec year])
      else {}
      end
    end

    # The elements of a date with a Japanese era ("R06.02.03"), or of one in ISO 8601, as a Hash; an empty one if it is none. ArgumentError if the text is longer than `limit`.
    def _jisx0301(string, limit: 128)
      return {} if string.nil?
      s = __check_limit(string, limit)
      m = s.match(/\A\s*(?<era>[mtshr])?(?<year>\d{2})\.(?<mon>\d{2})\.(?<mday>\d{2})(?:t(?:(?<hour>\d{2}):(?<min>\d{2})(?::(?<sec>\d{2})(?:[,.](?<sec_fraction>\d*))?)?(?<zone>z|[-+]\d{2}(?::?\d{2})?)?)?)?\s*\z/i)
      return _iso8601(s, limit: limit) unless m
      h = __fields(m, %i[year mon mday hour min sec sec_fraction zone])
      h[:year] += GENGO[(m[:era] || "h").downcase]
      h
    end

    # Making dates of elements.

    private def __from_elements(h, start)
      raise Error, "invalid date" if h.nil?
      if h[:seconds]
        seconds = h[:seconds] + (h[:offset] || 0)
        days, rest = seconds.divmod(86400)
        whole = rest.floor
        h = h.merge(jd: 2440588 + days, hour: whole / 3600, min: whole / 60 % 60, sec: whole % 60)
        h[:sec_fraction] = rest - whole if rest != whole
      end
      time = h.slice(:hour, :min, :sec).size
      h = h.merge(wday: h[:cwday] % 7) if h[:cwday] && !h[:wday] && (h[:wnum0] || h[:wnum1])
      forms = { ordinal: %i[year yday], civil: %i[year mon mday], commercial: %i[cwyear cweek cwday], wday: %i[wday], wnum0: %i[year wnum0 wday], wnum1: %i[year wnum1 wday], mixed: %i[cwyear cweek wday] }
      unless h[:jd]
        form, keys = forms.max_by.with_index { |(_, ks), i| [ks.count { |k| h[k] }, -i] }
        if keys.none? { |k| h[k] }
          raise Error, "invalid date" unless time > 0 && self <= DateTime
          h = h.merge(jd: Date.today.jd)
        elsif form == :wday
          today = Date.today
          h = h.merge(jd: (today - today.wday + h[:wday]).jd)
        elsif form != :civil || !keys.all? { |k| h[k] }
          today = nil
          filled = {}
          keys.each do |k|
            if h[k] then break
            elsif %i[wnum0 wnum1].include?(k) then filled[k] = 0
            else filled[k] = (today ||= Date.today).__send__(k)
            end
          end
          keys.each { |k| filled[k] = (%i[wday wnum0 wnum1].include?(k) ? (form == :wnum0 ? 0 : 1) : 1) unless h[k] || filled[k] }
          h = h.merge(filled)
        end
      end
      jd = h[:jd] ||
           (h[:yday] && h[:year] && __valid_ordinal_jd(h[:year], h[:yday], start)) ||
           (h[:mday] && h[:mon] && h[:year] && __valid_civil_jd(h[:year], h[:mon], h[:mday], start))
      if !jd && h[:cweek] && h[:cwyear] && (wday = h[:cwday] || h[:wday])
        jd = __valid_commercial_jd(h[:cwyear], h[:cweek], wday == 0 ? 7 : wday, start)
      end
      if !jd && h[:year]
        wday = h[:wday] || (h[:cwday] && h[:cwday] % 7)
        jd = __valid_weeknum_jd(h[:year], h[:wnum0], wday, 0, start) if h[:wnum0] && wday
        jd ||= __valid_weeknum_jd(h[:year], h[:wnum1], (wday - 1) % 7, 1, start) if h[:wnum1] && wday
      end
      raise Error, "invalid date" unless jd
      [jd, h]
    end

    private def __date(h, start)
      date = h && __everyday(h, start)
      return date if date
      jd, = __from_elements(h, start)
      __make(jd, start)
    end

    private def __parse(string = "-4712-01-01", comp = true, start = ITALY, limit: 128)
      __date(_parse(string, comp, limit: limit), __start(start))
    end

    {
      iso8601: "-4712-01-01", xmlschema: "-4712-01-01", jisx0301: "-4712-01-01", rfc3339: "-4712-01-01T00:00:00+00:00",
      rfc2822: "Mon, 1 Jan -4712 00:00:00 +0000", httpdate: "Mon, 01 Jan -4712 00:00:00 GMT"
    }.each do |name, first|
      own = name == :jisx0301 ? name : :"__#{name}"
      define_method(own) do |string = first, start = ITALY, limit: 128|
        h = __send__(:"_#{name}", string, limit: limit)
        raise Error, "invalid date" if h.empty?
        __date(h, __start(start))
      end
      private own unless own == name
    end
  end
end

class DateTime
  class << self
    private def __date(h, start)
      date = h && __everyday(h, start)
      return date if date
      jd, h = __from_elements(h, start)
      sec = h[:sec] || 0
      sec = 59 if sec == 60
      offset = h[:offset] || 0
      if offset.abs > 86400
        warn "invalid offset is ignored"
        offset = 0
      end
      __at(jd, h[:hour] || 0, h[:min] || 0, sec + (h[:sec_fraction] || 0), offset.to_i, start)
    end

    private def __parse(string = "-4712-01-01T00:00:00+00:00", comp = true, start = Date::ITALY, limit: 128) = super
  end
end
