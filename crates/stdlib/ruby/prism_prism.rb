# prism/prism: the functions of Prism over the linked parser (crates/stdlib/src/prism). The gem's Ruby files have the rest.
module Prism
  # The version of the gem whose interface this is.
  VERSION = "1.9.0"

  # Reads what Prism.dump has written. (This takes the place of the gem's own, which is of another version of the format.)
  Serialize = Module.new

  module Serialize
    # The ParseResult of a source and what `Prism.dump` made of it.
    def self.load_parse(source, serialized, freeze = false) = NativeParser.result(:parse, source, serialized, freeze)
    # The LexResult of a source and its tokens.
    def self.load_lex(source, serialized, freeze = false) = NativeParser.result(:lex, source, serialized, freeze)
    # The ParseLexResult of a source, its nodes and its tokens.
    def self.load_parse_lex(source, serialized, freeze = false) = NativeParser.result(:parse_lex, source, serialized, freeze)
    # The comments of a source.
    def self.load_parse_comments(source, serialized, freeze = false) = NativeParser.result(:comments, source, serialized, freeze)
  end

  module NativeParser
    KINDS = { parse: 0, lex: 1, parse_lex: 2, comments: 3, success: 4, errors: 10 }.freeze
    KEYS = %i[command_line encoding filepath freeze frozen_string_literal line main_script partial_script raise_error scopes version].freeze
    COMMAND_LINE = { "a" => 1, "e" => 2, "l" => 4, "n" => 8, "p" => 16, "x" => 32 }.freeze
    FORWARDING = { :* => 1, :** => 2, :& => 4, :"..." => 8 }.freeze
    # Levels of the language by the number that the parser has for them; 0 is the newest.
    VERSIONS = { "3.3" => 1, "3.4" => 2, "3.5" => 3, "4.0" => 3, "4.1" => 4 }.freeze

    class << self
      # What the parser tells. `errors`: the report that `raise_error:` asks for comes first.
      def tell(kind, source, options, report: true)
        raise TypeError, "wrong argument type #{source.class} (expected String)" unless source.is_a?(String)
        written = write(options)
        format = report ? report_format(options[:raise_error]) : nil
        fail_with(ask(KINDS[:errors] + format, source, written), options) if format
        ask(KINDS[kind], source, written)
      end

      def objects(kind, source, options)
        told = tell(kind, source, options)
        read(KINDS[kind], source.dup.force_encoding(Encoding::BINARY), told, options[:freeze] ? true : false)
      end

      def result(kind, source, serialized, freeze)
        read(KINDS[kind], source.dup, serialized, freeze ? true : false)
      end

      # The content of a file, as it is.
      def file(path)
        raise TypeError, "wrong argument type #{path.class} (expected String)" unless path.is_a?(String)
        raise Errno::EISDIR, path if File.directory?(path)
        begin
          File.binread(path)
        rescue SystemCallError => e
          raise e.class, path # without the name of a C function
        end
      end

      private

      def report_format(wanted)
        case wanted
        when nil, false then nil
        when true
          next_best = ENV["NO_COLOR"].to_s.empty? ? 3 : 2
          $stderr.respond_to?(:tty?) && $stderr.tty? ? next_best : 1
        when :plain then 1
        when :style then 2
        when :color then 3
        when Symbol then raise ArgumentError, "invalid raise_error value: #{wanted}"
        else raise TypeError, "wrong argument type #{wanted.class} (expected Symbol)"
        end
      end

      def fail_with(report, options)
        level = report.getbyte(0)
        return if level == 255
        encoding, message = report.byteslice(1..).split("\0", 2)
        case level
        when 0
          error = SyntaxError.new(message.force_encoding(encoding))
          error.instance_variable_set(:@path, options[:filepath] || "")
        when 1 then error = ArgumentError.new(message.force_encoding(encoding))
        else
          error = LoadError.new(message.force_encoding(Encoding.find("locale")))
          error.instance_variable_set(:@path, nil)
        end
        raise error
      end

      # Options as the parser reads them.
      def write(options)
        unknown = options.keys - KEYS
        raise ArgumentError, "unknown keyword: #{unknown.first.inspect}" unless unknown.empty?
        encoding = options[:encoding]
        out = text(options[:filepath] ? string(options[:filepath]) : "")
        out << [options[:line] || 1].pack("l")
        out << text(encoding ? encoding_name(encoding) : "")
        frozen = { nil => 0, true => 1, false => -1 }.fetch(options[:frozen_string_literal], 1)
        flags = [encoding == false, options[:main_script], options[:partial_script], options[:freeze], false]
        out << [frozen, command_line(options[:command_line]), version(options[:version]), *flags.map { |f| f ? 1 : 0 }].pack("cC*")
        scopes = options[:scopes] || []
        raise TypeError, "wrong argument type #{scopes.class} (expected Array)" unless scopes.is_a?(Array)
        out << [scopes.size].pack("L")
        scopes.each { |scope| out << scope(scope) }
        out
      end

      def text(s) = [s.bytesize].pack("L") << s.b

      def string(s)
        raise TypeError, "wrong argument type #{s.class} (expected String)" unless s.is_a?(String)
        raise ArgumentError, "string contains null byte" if s.include?("\0")
        s
      end

      def encoding_name(encoding) = encoding.is_a?(Encoding) ? encoding.name : Encoding.find(encoding).name

      def command_line(letters)
        return 0 if letters.nil?
        raise ArgumentError, "command_line must be a string" unless letters.is_a?(String)
        letters.each_char.inject(0) do |bits, letter|
          bits | (COMMAND_LINE[letter] or raise ArgumentError, "invalid command_line option: #{letter}")
        end
      end

      def version(wanted)
        case wanted
        when nil, "latest" then 0
        when "current" then numbered(RUBY_VERSION) || raise(CurrentVersionError, RUBY_VERSION)
        when "nearest" then numbered(RUBY_VERSION) || (RUBY_VERSION < "3.3" ? VERSIONS["3.3"] : 0)
        else numbered(string(wanted)) || raise(ArgumentError, "invalid version: #{wanted}")
        end
      end

      def numbered(version)
        level = version[/\A(\d+\.\d+)(\.\d+)?\z/, 1] and VERSIONS[level]
      end

      def scope(scope)
        case scope
        when Array then locals, forwarding = scope, 0
        when Scope
          locals = scope.locals
          forwarding = scope.forwarding.inject(0) do |bits, what|
            bits | (FORWARDING[what] or raise ArgumentError, "invalid forwarding value: #{what}")
          end
        else raise TypeError, "wrong argument type #{scope.class} (expected Array or Prism::Scope)"
        end
        out = [locals.size, forwarding].pack("LC")
        locals.each { |name| out << text(name.name) }
        out
      end
    end
  end
  private_constant :NativeParser

  class << self
    # The syntax tree of a text, with comments, errors and warnings. Options: `filepath:`, `line:`, `encoding:`, `version:`, `frozen_string_literal:`, `scopes:`, `freeze:`, `raise_error:`, ...
    #
    #     Prism.parse("1 + 2").value.class   #=> Prism::ProgramNode
    def parse(source, **options) = NativeParser.objects(:parse, source, options)
    # The tokens of a text.
    def lex(source, **options) = NativeParser.objects(:lex, source, options)
    # The syntax tree and the tokens of a text.
    def parse_lex(source, **options) = NativeParser.objects(:parse_lex, source, options)
    # The comments of a text.
    def parse_comments(source, **options) = NativeParser.objects(:comments, source, options)
    # Whether a text has no errors.
    def parse_success?(source, **options) = NativeParser.tell(:success, source, options) == "\1".b
    # Whether a text has errors.
    def parse_failure?(source, **options) = !parse_success?(source, **options)

    # The syntax tree of a text, as bytes that `Prism.load` reads.
    def dump(source, **options)
      dumped = NativeParser.tell(:parse, source, options)
      options[:freeze] ? dumped.freeze : dumped
    end

    # Parses and throws the result away.
    def profile(source, **options)
      NativeParser.tell(:parse, source, options)
      nil
    end

    # The syntax tree of a file.
    def parse_file(path, **options) = parse(NativeParser.file(path), **options, filepath: path)
    # The tokens of a file.
    def lex_file(path, **options) = lex(NativeParser.file(path), **options, filepath: path)
    # The syntax tree and the tokens of a file.
    def parse_lex_file(path, **options) = parse_lex(NativeParser.file(path), **options, filepath: path)
    # The comments of a file.
    def parse_file_comments(path, **options) = parse_comments(NativeParser.file(path), **options, filepath: path)
    # Whether a file has no errors.
    def parse_file_success?(path, **options) = parse_success?(NativeParser.file(path), **options, filepath: path)
    # Whether a file has errors.
    def parse_file_failure?(path, **options) = !parse_file_success?(path, **options)
    # The syntax tree of a file, as bytes that `Prism.load` reads.
    def dump_file(path, **options) = dump(NativeParser.file(path), **options, filepath: path)
    # Parses a file and throws the result away.
    def profile_file(path, **options) = profile(NativeParser.file(path), **options, filepath: path)

    # The node of a method, a block or a place in a backtrace, by its file and line: the VM's code keeps no numbers of nodes.
    def find(callable, rubyvm: false) = NodeFind.find(callable, rubyvm)

    # Reads lines up to `__END__`, unless that stands in something that is not over.
    def parse_stream(stream, **options)
      source = +"".b
      while (line = String.try_convert(stream.gets)) && !line.empty?
        source << line.b
        break if line.match?(/\A__END__\r?\n?\z/n) && parse_success?(source, **options.except(:raise_error, :freeze))
      end
      parse(source, **options)
    end
  end

  # Whether a name is written as that of a local variable, a constant, a method.
  class StringQuery
    class << self
      # Whether a name is written as that of a local variable.
      def local?(name) = named?(name) { |text| text.match?(/\A[\p{Ll}_[^\x00-\x7f]&&[^\p{Lu}\p{Lt}]][\p{Alnum}_[^\x00-\x7f]]*\z/) }
      # Whether a name is written as that of a constant.
      def constant?(name) = named?(name) { |text| text.match?(/\A[\p{Lu}\p{Lt}][\p{Alnum}_[^\x00-\x7f]]*\z/) }

      # Whether a name is written as that of a method.
      def method_name?(name)
        named?(name) do |text|
          next true if OPERATORS.include?(text)
          text.match?(/\A[\p{Alpha}_[^\x00-\x7f]][\p{Alnum}_[^\x00-\x7f]]*[?!=]?\z/) && !text.match?(/\A_[1-9]\z/)
        end
      end

      OPERATORS = %w[! != !~ % & * ** + +@ - -@ / < << <= <=> == === =~ > >= >> [] []= ^ ` | ~].freeze
      private_constant :OPERATORS

      private

      def named?(name)
        raise TypeError, "wrong argument type #{name.class} (expected String)" unless name.is_a?(String)
        raise ArgumentError, "Invalid or non ascii-compatible encoding" unless name.encoding.ascii_compatible? && name.valid_encoding?
        yield name.encoding == Encoding::UTF_8 ? name : name.encode(Encoding::UTF_8)
      end
    end
  end
end
