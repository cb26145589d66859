# OpenSSL::Config: files of sections with settings, in the form of openssl.cnf.
module OpenSSL
  class ConfigError < OpenSSLError; end

  class Config
    include Enumerable

    DEFAULT_CONFIG_FILE = File.join(X509::DEFAULT_CERT_AREA, "openssl.cnf").freeze

    class << self
      # The settings in a text; ConfigError if it is wrong.
      #
      #     OpenSSL::Config.parse("[a]\nb = 1").get_value("a", "b")   #=> "1"
      def parse(text)
        config = allocate
        config.__send__(:parse, text)
        config.freeze
      end

      # A Hash of sections with their settings.
      def parse_config(io) = parse(io.respond_to?(:read) ? io.read : io.to_str).each_with_object({}) { |(section, key, value), all| (all[section] ||= {})[key] = value }

      # The settings of a file, without one none.
      def load(path = nil) = new(path)
    end

    # Without a file there is not even the section "default".
    def initialize(path = nil)
      @__sections = path ? { "default" => {} } : {}
      read(File.read(path), "default", 0) if path
      freeze
    end
    private def parse(text)
      @__sections = { "default" => {} }
      read(text, "default", 0)
    end

    def initialize_copy(other)
      @__sections = other.__sections.transform_values(&:dup)
      freeze
    end

    def __sections = @__sections
    # A piece of a line up to `#`; quotes and escapes hide it.
    CODE = /\A(?:\\.|'(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?|[^#'"\\]|\\\z)*/m
    # What keys are made of; a name in front of `::` is a section's.
    KEY = /(?:\\.|[\w!%&*+,.\/;?@^~|-])*/m
    # Files that include each other.
    DEPTH = 20
    private_constant :CODE, :KEY, :DEPTH

    # Returns the section that the text ends in.
    private def read(text, section, depth)
      number, lines = 0, text.to_s.lines
      while (line = lines.shift)
        number += 1
        line = line.chomp
        while line.match?(/(?<!\\)(?:\\\\)*\\\z/) && !lines.empty?
          line = line.chop + lines.shift.chomp
          number += 1
        end
        line = line[CODE].strip
        next if line.empty?
        if line.start_with?("[")
          section = line[/\A\[\s*([^\]]*?)\s*\]/, 1] || wrong(number, "missing close square bracket")
          @__sections[section] ||= {}
        else
          name = line[/\A#{KEY}/o]
          rest = line[name.size..]
          place = section
          if rest.start_with?("::")
            place, name = name, rest[2..][/\A#{KEY}/o]
            rest = rest[name.size + 2..]
          end
          rest = rest.lstrip
          if name == ".include" && place == section
            section = include_file(rest.delete_prefix("=").strip, section, depth)
          else
            wrong(number, "missing equal sign") unless rest.start_with?("=")
            (@__sections[place] ||= {})[name] = unquote(rest[1..].lstrip, place, number)
          end
        end
      end
      section
    end

    private def wrong(number, reason) = raise(ConfigError, "error in line #{number}: #{reason}")

    # A file, or those of a folder that are named like one; what can't be read is left out.
    private def include_file(path, section, depth)
      return section if depth >= DEPTH
      path = File.expand_path(path)
      paths = File.directory?(path) ? Dir.children(path).grep(/\.(?:cnf|conf)\z/i).sort.map { |name| File.join(path, name) } : [path]
      paths.each { |one| section = read(File.read(one), section, depth + 1) if File.file?(one) && File.readable?(one) }
      section
    end

    # Quotes, escapes, variables.
    private def unquote(text, section, number)
      result = +""
      until text.empty?
        case text
        when /\A'((?:[^'\\]|\\.)*)'?/m, /\A"((?:[^"\\]|\\.)*)"?/m
          rest = $'
          result << $1.gsub(/\\(.)/m) { $1 }
          text = rest
        when /\A\\(.)/m
          rest = $'
          result << ({ "n" => "\n", "r" => "\r", "t" => "\t", "b" => "\b" }[$1] || $1)
          text = rest
        when /\A\$(?:\{([^}]*)\}|\(([^)]*)\)|((?:\w+::)?\w+))/
          rest, name = $', $1 || $2 || $3
          place, key = name.include?("::") ? name.split("::", 2) : [section, name]
          value = place == "ENV" ? ENV[key] : @__sections.dig(place, key) || @__sections["default"][key]
          wrong(number, "variable has no value") unless value
          result << value
          wrong(number, "variable expansion too long") if result.size > 65_536
          text = rest
        when /\A\$[{(]/ then wrong(number, "no close brace")
        when /\A\$/ then wrong(number, "variable has no value")
        when /\A[^'"\\$]+/
          result << $&
          text = $'
        else
          result << text[0]
          text = text[1..]
        end
      end
      result
    end

    # The value of a key in a section, or in the section "default"; nil if there is none.
    def get_value(section, key)
      raise TypeError, "no implicit conversion of nil into String" if section.nil? || key.nil?
      return ENV[key] if section == "ENV"
      @__sections.dig(section.empty? ? "default" : section, key) || @__sections["default"]&.[](key)
    end
    # A Hash of a section's settings.
    def [](section) = (@__sections[section] || {}).dup
    # The names of the sections.
    def sections = @__sections.keys
    # Yields `[section, key, value]` of each setting; without a block an Enumerator.
    def each
      return to_enum unless block_given?
      @__sections.each { |section, values| values.each { |key, value| yield [section, key, value] } }
      self
    end
    # The settings as a file has them.
    def to_s
      ordered = @__sections.sort_by { |name, _| name == "default" ? 0 : 1 }
      ordered.map { |name, values| "[ #{name} ]\n#{values.map { |key, value| "#{key}=#{value}\n" }.join}\n" }.join
    end
    # The class and the names of the sections.
    def inspect = "#<#{self.class} sections=#{sections.inspect}>"
  end
end
