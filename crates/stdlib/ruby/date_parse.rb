# date: text to dates. `_strptime` follows a format; `_parse` looks for what it knows: a time, then a date with month names, in ISO 8601 form,
# with slashes or dots, or of digits alone. Both give a Hash of elements; the rest of the file makes dates of such Hashes.
class Date
  ZONES = {
    "utc" => 0, "gmt" => 0, "ut" => 0, "z" => 0, "wet" => 0, "west" => 1, "bst" => 1, "cet" => 1, "cest" => 2, "mez" => 1, "mesz" => 2, "met" => 1, "mest" => 2,
    "eet" => 2, "eest" => 3, "msk" => 3, "msd" => 4, "ist" => 5.5, "jst" => 9, "kst" => 9, "hkt" => 8, "sgt" => 8, "aest" => 10, "aedt" => 11, "acst" => 9.5,
    "awst" => 8, "nzst" => 12, "nzdt" => 13, "nst" => -3.5, "ndt" => -2.5, "ast" => -4, "adt" => -3, "est" => -5, "edt" => -4, "cst" => -6, "cdt" => -5,
    "mst" => -7, "mdt" => -6, "pst" => -8, "pdt" => -7, "akst" => -9, "akdt" => -8, "hst" => -10, "brt" => -3, "brst" => -2, "art" => -3, "clt" => -4, "clst" => -3
  }.merge(
    # Windows' names, before "Standard Time".
    {
      -12 => "dateline", -11 => "samoa", -10 => "hawaiian", -9 => "alaskan", -8 => "pacific|pacific mexico", -7 => "mountain|us mountain|mexico 2|chihuahua",
      -6 => "central|canada central|mexico|central america|guadalajara", -5 => "eastern|us eastern|sa pacific|bogota", -4 => "atlantic|sa western|pacific sa",
      -3.5 => "newfoundland", -3 => "e. south america|sa eastern|greenland|argentina|brasilia", -2 => "mid-atlantic", -1 => "azores|cape verde", 0 => "greenwich|morocco",
      1 => "w. europe|central europe|central european|romance|w. central africa", 2 => "e. europe|egypt|fle|gtb|israel|jerusalem|south africa|middle east|jordan|namibia",
      3 => "arab|arabic|russian|e. africa|belarus", 3.5 => "iran", 4 => "arabian|caucasus|azerbaijan|mauritius|georgian|armenian", 4.5 => "afghanistan",
      5 => "west asia|ekaterinburg|pakistan", 5.5 => "india|sri lanka", 5.75 => "nepal", 6 => "central asia|n. central asia|bangladesh", 6.5 => "myanmar",
      7 => "se asia|north asia", 8 => "china|singapore|taipei|w. australia|north asia east|ulaanbaatar|malay peninsula", 9 => "tokyo|korea|yakutsk",
      9.5 => "aus central|cen. australia", 10 => "aus eastern|e. australia|tasmania|west pacific|vladivostok", 11 => "central pacific", 12 => "fiji|new zealand|kamchatka",
      13 => "tonga"
    }.flat_map { |hours, names| names.split("|").map { |name| [name, hours] } }.to_h,
    [*"a".."i"].each_with_index.to_h { |c, i| [c, i + 1] }, [*"k".."m"].each_with_index.to_h { |c, i| [c, i + 10] },
    [*"n".."y"].each_with_index.to_h { |c, i| [c, -i - 1] }
  ).transform_values { |hours| (hours * 3600).to_i }.freeze
  MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
  DAYS = "sun|mon|tue|wed|thu|fri|sat"
  ZONE = /(?:(?:gmt|utc?)?[-+]\d+(?:[,.:]\d+(?::\d+)?)?|[[:alpha:].\s]+\s(?:standard|daylight)\s+time\b|[[:alpha:]]+(?:\s+dst\b)?|\[[-+]?\d[^\]]*\])/i
  private_constant :ZONES, :MONTHS, :DAYS, :ZONE

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
      if m = s.match(/\b(#{DAYS})[a-z]*\b\.?/io)
        h[:wday] = DAYS.split("|").index(m[1].downcase)
        s = m.pre_match + " " + m.post_match
      end
      s = __parse_time(s, h)
      s = __parse_date(s, h, comp)
      if h[:year] && s.match?(/\b(?:bc\b|bce\b|b\.c\.)/i)
        h[:year] = 1 - h[:year]
      end
      h.delete(:_bare)
      # A lone number beside a time.
      if h[:hour] && !h.key?(:mday) && !h.key?(:mon) && (m = s.match(/\A\s*(\d{1,2})\s*\z/)) && m[1].to_i.between?(1, 31)
        h[:mday] = m[1].to_i
      end
      h[:offset] = __zone_to_diff(h[:zone]) if h[:zone] && !h.key?(:offset)
      h
    end

    private def __parse_time(s, h)
      hms = /(\d+)\s*(?::\s*(\d+)(?:\s*:\s*(\d+)(?:[.,](\d*))?)?|h\b(?:\s*(\d{1,2})m?\b(?:\s*(\d{1,2})s?\b)?)?(?=\s|\z|\b))/i
      m = s.match(/(?<![\d.:])#{hms}(?:\s*([ap])(?:m\b|\.m\.))?(?:\s*(#{ZONE}))?/io)
      unless m
        m = s.match(/\b(\d{1,2})()()()()()\s*([ap])(?:m\b|\.m\.)(?:\s*(#{ZONE}))?/io) or return s
      end
      # Any word behind a time is taken for a zone, be it an era's or a month's name.
      h[:zone] = m[8] if m[8]
      h[:hour] = m[1].to_i
      min = m[2].to_s.empty? ? m[5] : m[2]
      sec = m[3].to_s.empty? ? m[6] : m[3]
      h[:min] = min.to_i unless min.to_s.empty?
      h[:sec] = sec.to_i unless sec.to_s.empty?
      h[:sec_fraction] = Rational(m[4].to_i, 10**m[4].size) unless m[4].to_s.empty?
      h[:hour] = h[:hour] % 12 + (m[7].downcase == "p" ? 12 : 0) if m[7]
      m.pre_match.sub(/(?<=\d)t\z/i, "") + " " + m.post_match
    end

    # A year as it was written: two digits are of this age.
    private def __year(text, comp)
      digits = text.delete("^0-9")
      y = digits.to_i
      y = -y if text.start_with?("-")
      y += y >= 69 ? 1900 : 2000 if comp && digits.size <= 2 && y >= 0
      y
    end

    # Three elements whose order their looks must tell.
    private def __three(h, a, b, c, comp)
      year_like = ->(t) { t && (t.start_with?("'", "-") || t.delete("^0-9").size > 2) }
      a, c = c, a if !year_like.(a) && year_like.(c)
      h[:year] = __year(a, comp && !a.start_with?("-"))
      h[:mon] = b.to_i
      h[:mday] = c.to_i
    end

    private def __parse_date(s, h, comp)
      month = ->(text) { MONTHS.split("|").index(text[0, 3].downcase) + 1 }
      case s
      when /\b'?(\d+)(?:[^-\d\s]*\s*|\b[\s.\-\/]*)(#{MONTHS})[^-\d\s']*(?:(?:[\s,.\/]+|(?<=[a-z])-)?((?:ad|ce|bce?)\b\.?|[ab]\.[dc]\.)?\s*('?-?\d+)(?:st|nd|rd|th)?\b)?/io
        m = $~
        era = m[3]
        if m[4] && m[1].size > 2 && m[4].size <= 2
          h[:year], h[:mday] = __year(m[1], false), m[4].to_i
        elsif m[1].size > 2 && !m[4]
          h[:year] = __year(m[1], false)
        else
          h[:mday] = m[1].to_i
          h[:year] = __year(m[4], comp && !m[4].start_with?("-")) if m[4]
        end
        h[:mon] = month.(m[2])
        h[:year] = 1 - h[:year] if era&.match?(/\Ab/i) && h[:year]
        %i[year mon mday].each { |k| h[k] = h.delete(k) if h.key?(k) }
      when /\b(#{MONTHS})[^-\d\s']*(?:[.\s\/]*|\s*-)('?\d+)(?:st|nd|rd|th)?\b(?:(?:[\s,.\/]+|-)?((?:ad|ce|bce?)\b\.?|[ab]\.[dc]\.)?\s*('?-?\d+)\b)?/io
        m = $~
        h[:mon] = month.(m[1])
        if m[2].size > 2 && !m[4]
          h[:year] = __year(m[2], comp)
        else
          h[:mday] = m[2].to_i
          h[:year] = __year(m[4], comp && !m[4].start_with?("-")) if m[4]
        end
        h[:year] = 1 - h[:year] if m[3]&.match?(/\Ab/i) && h[:year]
        %i[year mon mday].each { |k| h[k] = h.delete(k) if h.key?(k) }
      when /(?<![\d])('?[-+]?\d{2,}|'\d+|\d+)-(\d{1,2})-('?-?\d+)/
        __three(h, $1, $2, $3, comp)
      when /\b([mtshr])(\d+)\.(\d+)\.(\d+)/i
        h[:year] = $2.to_i + { "m" => 1867, "t" => 1911, "s" => 1925, "h" => 1988, "r" => 2018 }[$1.downcase]
        h[:mon], h[:mday] = $3.to_i, $4.to_i
      when %r{('?-?\d+)/\s*('?\d+)(?:[^\d]\s*('?-?\d+))?}
        m = $~
        if m[3] then __three(h, m[1], m[2], m[3], comp)
        else
          h[:mon], h[:mday] = m[1].to_i, m[2].to_i
        end
      when /('?-?\d+)\.\s*('?\d+)\.\s*('?-?\d+)/ then __three(h, $1, $2, $3, comp)
      when /\b(\d{2}|\d{4})?-?w(\d{2})(?:-?(\d))?\b/i
        h[:cwyear] = __year($1, comp) if $1
        h[:cweek] = $2.to_i
        h[:cwday] = $3.to_i if $3
      when /-w-(\d)\b/i then h[:cwday] = $1.to_i
      when /---(\d{2})\b/ then h[:mday] = $1.to_i
      when /--(\d{2})-?(\d{2})\b/ then h[:mon], h[:mday] = $1.to_i, $2.to_i
      when /--(\d{2})\b/ then h[:mon] = $1.to_i
      when /(?<!\d)(\d{4})-(\d{3})\b/ then h[:year], h[:yday] = $1.to_i, $2.to_i
      when /\b(#{MONTHS})[a-z]*\b/io then h[:mon] = month.($1)
      when /'(\d+)\b/ then h[:year] = __year($1, comp)
      when /(\d+)(?:st|nd|rd|th)\b/i then h[:mday] = $1.to_i
      when /([-+]?)(\d{2,14})(?:\s*t?\s*(\d{2,6})(?:[.,](\d*))?|[.,](\d*))?(z\b|[-+]\d{1,4}(?::\d\d)?\b|\[[^\]]*\])?/i
        $5 ? __parse_clock(h, $2, $5, $6) : __parse_digits(h, $1, $2, $3, $4, $6, comp)
      end
      s
    end

    # Digits with a fraction behind them end with seconds.
    private def __parse_clock(h, digits, fraction, zone)
      rest = digits
      %i[sec min hour mday mon].each do |key|
        break if rest.empty?
        h[key] = rest[-2, 2]&.to_i || rest.to_i
        rest = rest[0...-2] || ""
      end
      h[:year] = rest.to_i unless rest.empty?
      h[:sec_fraction] = Rational(fraction.to_i, 10**fraction.size) unless fraction.empty?
      h[:zone] = zone if zone
    end

    private def __parse_digits(h, sign, digits, time, fraction, zone, comp)
      take = ->(keys, widths) do
        at = 0
        keys.zip(widths) do |k, w|
          h[k] = digits[at, w].to_i
          at += w
        end
      end
      case digits.size
      when 2 then take.(%i[mday], [2])
      when 3 then take.(%i[yday], [3])
      when 4 then take.(%i[mon mday], [2, 2])
      when 5 then take.(%i[year yday], [2, 3])
      when 6 then take.(%i[year mon mday], [2, 2, 2])
      when 7 then take.(%i[year yday], [4, 3])
      when 8 then take.(%i[year mon mday], [4, 2, 2])
      when 10 then take.(%i[year mon mday hour], [4, 2, 2, 2])
      when 12 then take.(%i[year mon mday hour min], [4, 2, 2, 2, 2])
      when 14 then take.(%i[year mon mday hour min sec], [4, 2, 2, 2, 2, 2])
      else return
      end
      if h[:year]
        short = digits.size == 5 || digits.size == 6
        h[:year] += h[:year] >= 69 ? 1900 : 2000 if short && comp && sign.empty?
        h[:year] = -h[:year] if sign == "-"
      end
      if time
        h[:hour] = time[0, 2].to_i
        h[:min] = time[2, 2].to_i if time.size >= 4
        h[:sec] = time[4, 2].to_i if time.size >= 6
      end
      h[:sec_fraction] = Rational(fraction.to_i, 10**fraction.size) if fraction && !fraction.empty?
      h[:zone] = zone if zone
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
      h[:year] += { "m" => 1867, "t" => 1911, "s" => 1925, "h" => 1988, "r" => 2018 }[(m[:era] || "h").downcase]
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
