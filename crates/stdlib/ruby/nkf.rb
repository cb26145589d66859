# NKF: Japanese texts from one encoding to another, by nkf's options, over String#encode. Options that fold lines and such stand in `Converter`.
module NKF
  VERSION = "2.1.5 (2018-12-15)"
  NKF_VERSION = "2.1.5"
  NKF_RELEASE_DATE = "2018-12-15"
  AUTO = NOCONV = UNKNOWN = nil
  BINARY, ASCII = Encoding::BINARY, Encoding::US_ASCII
  JIS, EUC, SJIS = Encoding::ISO_2022_JP, Encoding::EUC_JP, Encoding::Shift_JIS
  UTF8, UTF16, UTF32 = Encoding::UTF_8, Encoding::UTF_16BE, Encoding::UTF_32BE

  class << self
    # The text in another encoding, by the options of the program nkf: "-w" UTF-8, "-s" Shift_JIS, "-e" EUC-JP, "-j" ISO-2022-JP.
    #
    #     NKF.nkf("-w", "\xA5\xEB".b).valid_encoding?   #=> true
    def nkf(options, text)
      options, text = [options, text].map { |s| String.try_convert(s) || raise(TypeError, "no implicit conversion of #{s.nil? ? "nil" : s.class} into String") }
      Converter.new(options).convert(text)
    end

    # The encoding that a text seems to have; nil when nobody knows.
    def guess(text)
      text = (String.try_convert(text) || raise(TypeError, "no implicit conversion of #{text.nil? ? "nil" : text.class} into String")).b
      return US_ASCII if text.empty?
      return Encoding::UTF_16 if text.start_with?("\xFE\xFF".b, "\xFF\xFE".b)
      return UTF8 if text.start_with?("\xEF\xBB\xBF".b)
      return JIS if text.match?(/\e(?:\$[@B]|\$\([@BD]|\([IJ])/n)
      return ASCII if text.ascii_only?
      valid = ->(encoding) { text.dup.force_encoding(encoding).valid_encoding? }
      return UTF8 if valid.(UTF8)
      euc, sjis = valid.(EUC), valid.(Encoding::Windows_31J)
      return euc ? EUC : sjis ? SJIS : BINARY if euc != sjis
      return BINARY unless euc
      # Both would do: Japanese is kana most of all.
      kana = ->(encoding) { text.dup.force_encoding(encoding).encode(UTF8, invalid: :replace, undef: :replace).count("\u3040-\u30ff\u3001\u3002\u4e00-\u9fff") }
      half = ->(encoding) { text.dup.force_encoding(encoding).encode(UTF8, invalid: :replace, undef: :replace).count("\uff61-\uff9f") }
      kana.(EUC) - half.(EUC) >= kana.(Encoding::Windows_31J) - half.(Encoding::Windows_31J) ? EUC : SJIS
    end
  end
  US_ASCII = ASCII
  private_constant :US_ASCII

  # One set of options.
  class Converter
    NAMES = { "iso-2022-jp" => :jis, "euc-jp" => :euc, "eucjp-win" => :euc, "eucjp-ms" => :euc, "shift_jis" => :sjis, "cp932" => :sjis, "windows-31j" => :sjis, "utf-8" => :utf8, "utf-16" => :utf16, "utf-16be" => :utf16be,
              "utf-16le" => :utf16le, "utf-32" => :utf32, "utf-32be" => :utf32, "utf-32le" => :utf32le, "us-ascii" => :ascii, "ascii" => :ascii, "cp50221" => :jis, "cp51932" => :euc }.freeze
    ENCODINGS = { jis: JIS, euc: EUC, sjis: SJIS, utf8: UTF8, utf16: UTF16, utf16be: UTF16, utf16le: Encoding::UTF_16LE, utf32: UTF32, utf32le: Encoding::UTF_32LE, ascii: ASCII }.freeze
    # What is read and written under those names: the tables that are in use.
    TABLES = ENCODINGS.merge(euc: Encoding::CP51932, sjis: Encoding::Windows_31J).freeze
    HALF = "｡｢｣､･ｦｧｨｩｪｫｬｭｮｯｰｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜﾝﾞﾟ"
    WIDE = "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜"
    VOICED = { "ｶ" => "ガ", "ｷ" => "ギ", "ｸ" => "グ", "ｹ" => "ゲ", "ｺ" => "ゴ", "ｻ" => "ザ", "ｼ" => "ジ", "ｽ" => "ズ", "ｾ" => "ゼ", "ｿ" => "ゾ", "ﾀ" => "ダ", "ﾁ" => "ヂ", "ﾂ" => "ヅ", "ﾃ" => "デ", "ﾄ" => "ド",
               "ﾊ" => "バ", "ﾋ" => "ビ", "ﾌ" => "ブ", "ﾍ" => "ベ", "ﾎ" => "ボ", "ｳ" => "ヴ" }.freeze
    HALF_VOICED = { "ﾊ" => "パ", "ﾋ" => "ピ", "ﾌ" => "プ", "ﾍ" => "ペ", "ﾎ" => "ポ" }.freeze
    PLACES = "\uE000-#{[0xE000 + HALF.size - 1].pack("U")}".freeze
    private_constant :NAMES, :ENCODINGS, :TABLES, :HALF, :WIDE, :PLACES, :VOICED, :HALF_VOICED

    def initialize(options)
      @wide, @mime = true, true
      options.split.each { |word| word.start_with?("--") ? long(word[2..]) : short(word.delete_prefix("-")) }
      raise ArgumentError, "no output encoding given" unless @to || @transparent
    end

    private def long(word)
      case word
      when /\A(?:ic|input-encoding)=(.+)/i then @from = NAMES[$1.downcase] || raise(ArgumentError, "unknown encoding #{$1}")
      when /\A(?:oc|output-encoding)=(.+)/i then @to = NAMES[$1.downcase] || raise(ArgumentError, "unknown encoding #{$1}")
      when "jis" then @to = :jis
      when "euc" then @to = :euc
      when "sjis" then @to = :sjis
      when "utf8" then @to = :utf8
      when "utf16" then @to = :utf16
      when "jis-input" then @from = :jis
      when "euc-input" then @from = :euc
      when "sjis-input" then @from = :sjis
      when "utf8-input" then @from = :utf8
      when "utf16-input" then @from = :utf16
      when "hiragana" then @kana = 1
      when "katakana" then @kana = 2
      when "katakana-hiragana" then @kana = 3
      when "windows" then @line = "\r\n"
      when "mac" then @line = "\r"
      when "unix" then @line = "\n"
      when "mime" then @mime_encode = "B"
      when "base64" then @mime_encode = "B"
      when "x0212", "cp932", "no-cp932", "fb-skip", "no-best-fit-chars" then nil
      when "fb-html" then @fallback = ->(c) { "&##{c.ord};" }
      when "fb-xml" then @fallback = ->(c) { "&#x#{c.ord.to_s(16).upcase};" }
      when "fb-perl" then @fallback = ->(c) { "\\x{#{c.ord.to_s(16).upcase}}" }
      when "fb-java" then @fallback = ->(c) { c.encode("UTF-16BE").unpack("n*").map { |n| format("\\u%04x", n) }.join }
      when "numchar-input" then @numbers = true
      when "cap-input" then @escapes = /:(\h\h)/n
      when "url-input" then @escapes = /%(\h\h)/n
      when "in-place", "overwrite", "guess" then raise ArgumentError, "--#{word} is for files"
      end
    end

    private def short(word)
      rest = word
      until rest.empty?
        rest = rest.sub(
          /\A(?:w(?:80|8|16B0?|16L0?|16|32)?|W(?:8|16[BL]?|16|32)?|m[BQNS0]?|M[BQ]?|[hL][0-9umw]?|Z[0-4]?|f[0-9]*(?:-[0-9]*)?|F[0-9]*(?:-[0-9]*)?|B[0-2]?|i.|o.|.)/m
        ) { one($&) ; "" }
      end
    end

    private def one(option)
      case option
      when "j", "n" then @to = :jis
      when "e" then @to = :euc
      when "s" then @to = :sjis
      when "w", "w80" then @to = :utf8
      when "w8" then @to = :utf8
      when "w16", "w16B" then @to = :utf16be
      when "w16B0" then @to = :utf16be
      when "w16L" then @to = :utf16le
      when "w16L0" then @to = :utf16le
      when "w32" then @to = :utf32
      when "J" then @from = :jis
      when "E" then @from = :euc
      when "S" then @from, @wide_input = :sjis, true
      when "W", "W8" then @from = :utf8
      when "W16", "W16B" then @from = :utf16be
      when "W16L" then @from = :utf16le
      when "W32" then @from = :utf32
      when "x" then @wide = false
      when "X" then @wide = true
      when /\AZ([0-4]?)/ then @narrow = $1.empty? ? 0 : $1.to_i
      when /\Ah([123]?)/ then @kana = $1.empty? ? 1 : $1.to_i
      when "m0" then @mime = false
      when /\Am/ then @mime = true
      when "MQ", "MB" then @stream = option[1]
      when "M" then @mime_encode = "B"
      when "d", "Lu" then @line = "\n"
      when "c", "Lw" then @line = "\r\n"
      when "Lm" then @line = "\r"
      when "r" then @rotate = true
      when /\Af(\d*)/ then @fold = $1.empty? ? 60 : $1.to_i
      when "t" then @transparent = true
      when "l", "b", "u", "v", "T", "O", /\A[BioFL]/ then nil
      end
    end

    def convert(text)
      return text.b if @transparent
      bytes = text.b
      bytes = bytes.gsub(@escapes) { $1.hex.chr } if @escapes
      bytes = decode_mime(bytes) if @mime
      text = read(bytes)
      text = text.gsub(/&#(?:x(\h+)|(\d+));/i) { [$1 ? $1.hex : $2.to_i].pack("U") } if @numbers
      # What is made half-wide is not what was.
      text = text.tr(WIDE, PLACES) if @narrow == 4
      text = widen(text) if @wide
      text = text.tr(PLACES, HALF) if @narrow == 4
      text = narrow(text) if @narrow
      text = text.tr("ァ-ヶ", "ぁ-ゖ") if @kana == 1
      text = text.tr("ぁ-ゖ", "ァ-ヶ") if @kana == 2
      text = text.tr("ァ-ヶぁ-ゖ", "ぁ-ゖァ-ヶ") if @kana == 3
      text = rotate(text) if @rotate
      text = text.gsub(/\r\n|\r|\n/, @line) if @line
      text = fold(text) if @fold
      return encode_stream(write(text).b) if @stream
      @mime_encode ? encode_mime(text) : write(text)
    end

    private def read(bytes)
      from = @from || NAMES[NKF.guess(bytes)&.name.to_s.downcase] || :sjis
      bytes = bytes.byteslice(3..) if from == :utf8 && bytes.start_with?("\xEF\xBB\xBF".b)
      if %i[utf16 utf16be utf16le].include?(from) && bytes.start_with?("\xFE\xFF".b, "\xFF\xFE".b)
        from = bytes.start_with?("\xFF") ? :utf16le : :utf16be
        bytes = bytes.byteslice(2..)
      end
      return jis(bytes) if from == :jis
      bytes.force_encoding(TABLES[from]).encode(UTF8, invalid: :replace, undef: :replace, replace: "")
    end

    # ISO-2022-JP, with half-wide katakana, which come after `ESC ( I` or as bytes.
    private def jis(bytes)
      out, mode = +"", :ascii
      bytes.split(/(\e(?:\$\(?[@BD]|\([BJIH]|&@\e\$B)|\x0e|\x0f)/n).each do |part|
        case part
        when /\A\e\$/n, "\e&@\e$B" then mode = :wide
        when "\e(I", "\x0e" then mode = :half
        when /\A\e\(/n, "\x0f" then mode = :ascii
        else
          out << case mode
                 when :wide then part.gsub(/[\x21-\x7e]{2}/n) { |two| two.bytes.map { |b| (b | 0x80).chr }.join.b }.force_encoding(TABLES[:euc]).encode(UTF8, invalid: :replace, undef: :replace, replace: "")
                 when :half then part.gsub(/[\x21-\x5f]/n) { |c| (c.ord | 0x80).chr }.force_encoding(TABLES[:sjis]).encode(UTF8, invalid: :replace, undef: :replace, replace: "")
                 else part.force_encoding(TABLES[:sjis]).encode(UTF8, invalid: :replace, undef: :replace, replace: "")
                 end
        end
      end
      out
    end

    private def write(text)
      encoding, table = ENCODINGS[@to], TABLES[@to]
      text = with_wide_minus(text) if @to == :euc || @to == :sjis
      text = text.gsub(/[^\u0000-\u007f]/) { |c| encodable?(c, table) ? c : @fallback.call(c) } if @fallback
      out = @to == :jis ? to_jis(text) : text.encode(table, invalid: :replace, undef: :replace, replace: "")
      out.force_encoding(encoding)
    end

    private def encodable?(char, table)
      char.encode(table)
      true
    rescue EncodingError
      false
    end

    # Microsoft's charsets have the full-width minus only.
    private def with_wide_minus(text) = text.tr("\u2212", "\uFF0D")

    private def to_jis(text)
      text = with_wide_minus(text)
      out, mode = "".b, "\e(B"
      text.each_char do |c|
        if c.ascii_only? then into, bytes = "\e(B", c
        elsif HALF.include?(c) then into, bytes = "\e(I", (c.encode(TABLES[:sjis]).getbyte(0) & 0x7f).chr
        else
          two = begin
            c.encode(TABLES[:euc]).bytes
          rescue EncodingError
            next
          end
          next if two.size != 2
          into, bytes = "\e$B", two.map { |b| (b & 0x7f).chr }.join
        end
        out << into if into != mode
        mode = into
        out << bytes
      end
      out << "\e(B" if mode != "\e(B"
      out
    end

    private def widen(text)
      return text unless text.match?(/[\uff61-\uff9f]/)
      text.gsub(/([ｳｶ-ﾄﾊ-ﾎ])ﾞ/) { VOICED[$1] || $& }.gsub(/([ﾊ-ﾎ])ﾟ/) { HALF_VOICED[$1] }.tr(HALF, WIDE)
    end

    # Full-wide letters to ASCII.
    private def narrow(text)
      text = text.tr("！-～", "!-~").tr("　", @narrow == 1 ? " " : @narrow == 2 ? "\0" : "　")
      text = text.gsub("\0", "  ") if @narrow == 2
      text = text.gsub(/[&<>"]/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", "\"" => "&quot;") if @narrow == 3
      text
    end

    private def rotate(text)
      text.gsub(/[a-z]/i) { |c| c.tr("A-Za-z", "N-ZA-Mn-za-m") }.gsub(/[^\u0000-\u007f]/) do |c|
        bytes = c.encode(TABLES[:euc]).bytes
        next c if bytes.size != 2
        bytes.map { |b| ((b & 0x7f) - 33 + 47) % 94 + 33 | 0x80 }.pack("C*").force_encoding(TABLES[:euc]).encode(UTF8, invalid: :replace, undef: :replace, replace: "")
      rescue EncodingError
        c
      end
    end

    private def fold(text)
      text.lines(chomp: true).map do |line|
        out, width = +"", 0
        line.each_char do |c|
          size = c.ascii_only? || HALF.include?(c) ? 1 : 2
          if width + size > @fold
            out << "\n"
            width = 0
          end
          out << c
          width += size
        end
        out
      end.join("\n") + (text.end_with?("\n") ? "\n" : "")
    end

    private def decode_mime(bytes)
      bytes.gsub(/(=\?([^?\s]+)\?([BbQq])\?([^?]*)\?=)(?:\r?\n?[ \t]+(?==\?[^?\s]+\?[BbQq]\?))?/n) do
        whole, name, kind, body = $&, $2, $3, $4
        encoding = NAMES[name.downcase]
        next whole unless encoding
        data = kind.upcase == "B" ? body.unpack1("m") : body.tr("_", " ").gsub(/=(\h\h)/n) { $1.hex.chr }
        text = encoding == :jis ? jis(data.b) : data.force_encoding(TABLES[encoding]).encode(UTF8, invalid: :replace, undef: :replace, replace: "")
        # As it will be read: with the rest.
        from = @from || (NKF.guess(bytes) == ASCII ? encoding : NAMES[NKF.guess(bytes)&.name.to_s.downcase]) || encoding
        @from ||= from
        from == :jis ? to_jis(text) : with_wide_minus(text).encode(TABLES[from], invalid: :replace, undef: :replace, replace: "").b
      end
    end

    # All of it, in lines.
    private def encode_stream(bytes)
      text = @stream == "B" ? [bytes].pack("m54") : bytes.gsub(/[^A-Za-z0-9\n]/n) { |c| format("=%02X", c.ord) }
      text.delete_suffix("\n").force_encoding(ASCII)
    end

    # Words that are not ASCII, as headers carry them.
    private def encode_mime(text)
      name = { jis: "ISO-2022-JP", euc: "EUC-JP", sjis: "Shift_JIS" }[@to] || "UTF-8"
      text.gsub(/[^\u0000-\u007f]+(?: +[^\u0000-\u007f]+)*/) do |word|
        data = write(word).b
        "=?#{name}?#{@mime_encode}?#{@mime_encode == "B" ? [data].pack("m0") : data.gsub(/[^A-Za-z0-9]/n) { |c| format("=%02X", c.ord) }}?="
      end.force_encoding(ENCODINGS[@to]).then { |s| @to == :jis ? s.force_encoding(ASCII) : s }
    end
  end
  private_constant :Converter
end
