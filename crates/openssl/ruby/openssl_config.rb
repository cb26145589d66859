# OpenSSL::Config: files of sections with settings, in the form of openssl.cnf.
module OpenSSL
  class ConfigError < OpenSSLError; end

  class Config
    include Enumerable

    DEFAULT_CONFIG_FILE = File.join(X509::DEFAULT_CERT_AREA, "openssl.cnf").freeze

    class << self
      def parse(text)
        config = allocate
        config.instance_variable_set(:@sections, { "default" => {} })
        config.__send__(:read, text, nil)
        config.freeze
      end

      def parse_config(io)
        config = allocate
        config.instance_variable_set(:@sections, { "default" => {} })
        config.__send__(:read, io.respond_to?(:read) ? io.read : io.to_str, nil)
        config.each_with_object({}) { |(section, key, value), all| (all[section] ||= {})[key] = value }
      rescue ConfigError => e
        raise ConfigError, "error in line #{e.message}"
      end

      def load(path = nil) = new(path)
    end

    def initialize(path = nil)
      @sections = { "default" => {} }
      read(File.read(path), File.dirname(path)) if path
      freeze
    end

    def initialize_copy(other)
      @sections = other.instance_variable_get(:@sections).transform_values(&:dup)
      freeze
    end

    private def read(text, folder)
      section = "default"
      lines = text.to_s.lines
      number = 0
      while (line = lines.shift)
        number += 1
        line = line.chomp
        while line.match?(/(?<!\\)(?:\\\\)*\\\z/) && !lines.empty?
          line = line.chop + lines.shift.chomp
          number += 1
        end
        case line
        when /\A\s*(?:#.*)?\z/ then next
        when /\A\s*\[\s*([^\]]*?)\s*\]/
          section = $1
          @sections[section] ||= {}
        when /\A\s*\[/ then raise ConfigError, "missing close square bracket (#{number})"
        when /\A\s*\.include\s*=?\s*(.+?)\s*\z/
          Dir.glob(File.expand_path($1, folder || Dir.pwd)).sort.each { |path| read(File.read(path), File.dirname(path)) if File.file?(path) }
        when /\A\s*([\w.;!,:\-*]+)\s*=\s*(.*)\z/m
          place, key = $1.include?("::") ? $1.split("::", 2) : [section, $1]
          (@sections[place] ||= {})[key] = unquote($2, place)
        else raise ConfigError, "missing equal sign (#{number})"
        end
      end
    end

    # Quotes, escapes, variables, comments.
    private def unquote(text, section)
      result = +""
      until text.empty?
        case text
        when /\A'((?:[^'\\]|\\.)*)'/m, /\A"((?:[^"\\]|\\.)*)"/m
          rest = $'
          result << $1.gsub(/\\(.)/m) { $1 }
          text = rest
        when /\A#/ then break
        when /\A\\(.)/m
          rest = $'
          result << ({ "n" => "\n", "r" => "\r", "t" => "\t", "b" => "\b" }[$1] || $1)
          text = rest
        when /\A\$(?:\{([^}]*)\}|\(([^)]*)\)|((?:\w+::)?\w+))/
          rest, name = $', $1 || $2 || $3
          place, key = name.include?("::") ? name.split("::", 2) : [section, name]
          value = place == "ENV" ? ENV[key] : @sections.dig(place, key) || @sections["default"][key]
          raise ConfigError, "variable has no value" unless value
          result << value
          text = rest
        when /\A\$[{(]/ then raise ConfigError, "no close brace"
        else
          result << text[0]
          text = text[1..]
        end
      end
      result.rstrip
    end

    def get_value(section, key)
      raise TypeError, "no implicit conversion of nil into String" if section.nil? || key.nil?
      return ENV[key] if section == "ENV"
      @sections.dig(section.empty? ? "default" : section, key) || @sections["default"][key]
    end
    def [](section) = (@sections[section] || {}).dup
    def sections = @sections.keys
    def each
      return to_enum unless block_given?
      @sections.each { |section, values| values.each { |key, value| yield [section, key, value] } }
      self
    end
    def to_s = @sections.reject { |_, values| values.empty? }.sort_by { |name, _| name == "default" ? 0 : 1 }.map { |name, values| "[ #{name} ]\n#{values.map { |key, value| "#{key}=#{value}\n" }.join}\n" }.join
    def inspect = "#<#{self.class} sections=#{sections.inspect}>"
  end
end
