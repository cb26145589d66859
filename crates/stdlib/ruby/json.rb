# json: everything of the library but parsing and generating, which are native.
module JSON
  VERSION = "2.18.0"
  VERSION_ARRAY = VERSION.split(".").map(&:to_i)
  VERSION_MAJOR, VERSION_MINOR, VERSION_BUILD = VERSION_ARRAY

  NaN = Float::NAN
  Infinity = Float::INFINITY
  MinusInfinity = -Float::INFINITY

  class JSONError < StandardError
    # An error that tells of another one.
    def self.wrap(exception) = new("Wrapped(#{exception.class}): #{exception.message.inspect}")
  end

  class ParserError < JSONError
    # `line`: The line that can't be read, from 1.
    # `column`: The place in the line, from 1.
    attr_reader :line, :column
  end

  class NestingError < ParserError; end

  class GeneratorError < JSONError
    # `invalid_object`: The object that JSON has no form for.
    attr_reader :invalid_object

    # An error for an object.
    def initialize(message, invalid_object = nil)
      super(message)
      @invalid_object = invalid_object
    end

    # The message, and the object's `inspect`, cut off after 200 bytes.
    def detailed_message(...)
      return super unless defined?(@invalid_object) && @invalid_object
      shown = @invalid_object.inspect
      shown = shown.byteslice(0, 197).scrub("") + "..." if shown.bytesize > 200
      "#{super}\nInvalid object: #{shown}"
    end
  end

  class MissingUnicodeSupport < JSONError; end

  Fragment = Struct.new(:json) do
    # A text that is JSON already; TypeError if it is no String.
    def initialize(json)
      string = String.try_convert(json) or raise TypeError, " no implicit conversion of #{json.class} into String"
      super(string)
    end

    # The text as it is.
    def to_json(state = nil, *) = json
  end

  module Ext
    module Generator
      # The options of a generation, and the depth that it has reached.
      class State
        # `indent`: The text that each level is indented by.
        # `space`: The text after a colon.
        # `space_before`: The text before a colon.
        # `object_nl`: The text after each member of an object.
        # `array_nl`: The text after each element of an array.
        # `as_json`: The Proc for objects that JSON has no form for, or false.
        attr_reader :indent, :space, :space_before, :object_nl, :array_nl, :as_json
        # `max_nesting`: The levels that are allowed, 100 unless changed; 0: any number.
        # `depth`: The level that was reached.
        # `script_safe`: Whether `/`, U+2028 and U+2029 are escaped, for HTML.
        # `strict`: Whether objects without a form in JSON are refused, not written by `to_s`.
        # `buffer_initial_length`: The bytes that an output begins with; it changes nothing.
        attr_accessor :max_nesting, :depth, :script_safe, :strict
        attr_reader :buffer_initial_length
        # `allow_nan`: Sets whether NaN and infinities are written, which are no JSON.
        # `ascii_only`: Sets whether all that is not ASCII is escaped.
        attr_writer :allow_nan, :ascii_only

        # A State of options: the State itself, or one of a Hash.
        def self.from_state(options)
          case options
          when self then options
          when Hash then new(options)
          else
            if options.respond_to?(:to_hash) then new(options.to_hash)
            elsif options.respond_to?(:to_h) && !options.nil? then new(options.to_h)
            else new
            end
          end
        end

        # The JSON of an object by options.
        def self.generate(object, options, io = nil) = new(options).generate(object, io)

        # Options of a generation, from a Hash: `indent`, `space`, `max_nesting`, ...
        def initialize(options = nil)
          @indent = @space = @space_before = @object_nl = @array_nl = ""
          @max_nesting = 100
          @depth = 0
          @allow_nan = @ascii_only = @script_safe = @strict = @as_json = false
          @buffer_initial_length = 1024
          configure(options) if options
        end

        # Sets options from a Hash.
        def configure(options)
          JSON.__send__(:options_of, options).each do |key, value|
            case key.to_sym
            when :indent then self.indent = value
            when :space then self.space = value
            when :space_before then self.space_before = value
            when :object_nl then self.object_nl = value
            when :array_nl then self.array_nl = value
            when :max_nesting then @max_nesting = value || 0
            when :depth then @depth = value
            when :allow_nan then @allow_nan = !!value
            when :allow_duplicate_key then value.nil? ? (remove_instance_variable(:@allow_duplicate_key) if allow_duplicate_key? != nil) : @allow_duplicate_key = !!value
            when :ascii_only then @ascii_only = !!value
            when :script_safe, :escape_slash then @script_safe = !!value
            when :strict then @strict = !!value
            when :as_json then self.as_json = value
            when :buffer_initial_length then self.buffer_initial_length = value
            end
          end
          self
        end
        alias merge configure

        # nil stands for no text.
        #
        # :method: indent=(text): Sets the text that each level is indented by; TypeError if it is no String.
        # :method: space=(text): Sets the text after a colon; TypeError if it is no String.
        # :method: space_before=(text): Sets the text before a colon; TypeError if it is no String.
        # :method: object_nl=(text): Sets the text after each member of an object; TypeError if it is no String.
        # :method: array_nl=(text): Sets the text after each element of an array; TypeError if it is no String.
        %i[indent space space_before object_nl array_nl].each do |name|
          define_method(:"#{name}=") do |text|
            raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
            text ||= ""
            raise TypeError, "wrong argument type #{text.class} (expected String)" unless String === text
            instance_variable_set(:"@#{name}", text.frozen? ? text : text.dup.freeze)
          end
        end

        # Sets the Proc for objects that JSON has no form for; nil: none.
        def as_json=(callable)
          raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
          @as_json = callable ? callable.to_proc : false
        end

        # Sets the bytes that an output begins with.
        def buffer_initial_length=(length)
          @buffer_initial_length = Integer === length && length > 0 ? length : @buffer_initial_length
        end

        # Whether NaN and infinities are written.
        def allow_nan? = @allow_nan
        # Whether keys of a Hash may have the same text; nil if a warning tells of such.
        private def allow_duplicate_key? = defined?(@allow_duplicate_key) ? @allow_duplicate_key : nil
        # Whether all that is not ASCII is escaped.
        def ascii_only? = @ascii_only
        # Whether `/`, U+2028 and U+2029 are escaped.
        def script_safe? = @script_safe
        alias script_safe script_safe?
        # Whether objects without a form in JSON are refused.
        def strict? = @strict
        alias strict strict?
        # Whether there is a limit of levels.
        def check_circular? = @max_nesting != 0
        alias escape_slash script_safe
        alias escape_slash? script_safe?
        alias escape_slash= script_safe=

        # The JSON of an object; with an IO it is written there, and the IO the answer.
        def generate(object, io = nil)
          text = JSON.__send__(:__generate, object, self)
          return text unless io
          io.write(text)
          io
        end

        # The same as `generate`, but for the depth, which stays.
        def generate_new(object, io = nil) = dup.generate(object, io)

        # The options as a Hash.
        def to_h
          instance_variables.to_h { |name| [name.to_s.delete_prefix("@").to_sym, instance_variable_get(name)] }
        end
        alias to_hash to_h

        # The option of this name; deprecated.
        def [](name)
          JSON.__send__(:__deprecated, "JSON::State#[]")
          respond_to?(name) ? __send__(name) : instance_variable_get("@#{name}")
        end

        # Sets the option of this name; deprecated.
        def []=(name, value)
          JSON.__send__(:__deprecated, "JSON::State#[]=")
          respond_to?(name = "#{name}=") ? __send__(name, value) : instance_variable_set("@#{name.delete_suffix("=")}", value)
        end
      end

      module GeneratorMethods
        module String
          # What is needed to carry bytes that are no text.
          module Extend
            # The String of the bytes in `object["raw"]`.
            def json_create(object) = object["raw"].pack("C*")
          end

          ::String.extend(Extend)

          # A Hash of the bytes, for a String that is no text.
          def to_json_raw_object = { JSON.create_id => self.class.name, "raw" => unpack("C*") }

          # The JSON of `to_json_raw_object`.
          def to_json_raw(*) = to_json_raw_object.to_json(*)
        end
      end
    end

    # A document on its way to an object.
    class Parser
      class << self
        # The object that a JSON text stands for.
        def parse(source, options = nil) = JSON.__send__(:__parse, source, options)
        alias_method :new_parse, :parse
      end

      # A parser of one text; options as of `JSON.parse`.
      def initialize(source, options = nil)
        @source = source.to_str
        @config = Config.new(options)
      end

      # A copy of the text.
      def source = @source.dup

      # The object that the text stands for; JSON::ParserError if it is no JSON.
      def parse = @config.parse(@source)
    end

    # The options of parsing, for any number of texts.
    class ParserConfig
      # Options as of `JSON.parse`.
      def initialize(options)
        @options = options
      end

      # The object that a text stands for; JSON::ParserError if it is no JSON.
      def parse(source) = JSON.__send__(:__parse, source, @options)
    end
    Parser::Config = ParserConfig
  end

  Parser = Ext::Parser
  State = Ext::Generator::State
  PRETTY_GENERATE_OPTIONS = { indent: "  ", space: " ", object_nl: "\n", array_nl: "\n" }.freeze
  private_constant :PRETTY_GENERATE_OPTIONS

  @create_id = "json_class"
  # Looks at a Hash with keys of several kinds before it is written: two may have the same text.
  private_class_method def self.__same_keys(hash, refuse)
    seen = {}
    hash.each_key do |key|
      text = key.to_s
      unless seen[text]
        seen[text] = true
        next
      end
      message = "detected duplicate key #{text.inspect} in #{hash.inspect}"
      raise GeneratorError, message if refuse
      __warn("#{message}.\nThis will raise an error in json 3.0 unless enabled via `allow_duplicate_key: true`")
    end
  end

  @load_default_options = { allow_nan: true, allow_blank: true, create_additions: nil }
  @unsafe_load_default_options = { allow_nan: true, allow_blank: true, create_additions: true, max_nesting: false }
  @dump_default_options = { max_nesting: false, allow_nan: true }

  class << self
    # `create_id`: The key by which an object's class is told, "json_class" unless changed.
    attr_accessor :create_id
    private :__parse, :__generate

    # :method: load_default_options: The options of `JSON.load`; deprecated.
    # :method: load_default_options=(options): Sets the options of `JSON.load`; deprecated.
    # :method: unsafe_load_default_options: The options of `JSON.unsafe_load`; deprecated.
    # :method: unsafe_load_default_options=(options): Sets the options of `JSON.unsafe_load`; deprecated.
    # :method: dump_default_options: The options of `JSON.dump`; deprecated.
    # :method: dump_default_options=(options): Sets the options of `JSON.dump`; deprecated.
    %i[load_default_options unsafe_load_default_options dump_default_options].each do |name|
      define_method(name) do
        __deprecated("JSON.#{name}")
        instance_variable_get(:"@#{name}")
      end
      define_method(:"#{name}=") do |options|
        __deprecated("JSON.#{name}=")
        instance_variable_set(:"@#{name}", options)
      end
      define_method(:"_#{name}") { instance_variable_get(:"@#{name}") }
    end

    # Warns of what is deprecated, at the line of the program that leads here.
    private def __warn(message)
      return unless Warning[:deprecated]
      level = caller_locations(1).index { |place| place.path && !place.path.start_with?("<internal:") } || 0
      warn message, uplevel: level + 1, category: :deprecated
    end

    private def __deprecated(what) = __warn("#{what} is deprecated and will be removed in json 3.0.0")

    # The class of the options of generations, JSON::State.
    def state = State
    # The class of parsers, JSON::Parser.
    def parser = Parser
    # The module of what generates.
    def generator = Ext::Generator

    # Parses a String, and makes JSON of everything else.
    def [](object, options = nil)
      text = object.respond_to?(:to_str) ? object.to_str : nil
      String === text ? parse(text, options) : generate(object, options)
    end

    # Parses without a limit of levels, and takes NaN and infinities.
    def parse!(source, options = nil)
      parse(source, { max_nesting: false, allow_nan: true }.merge(options || {}))
    end

    # Parses a file.
    def load_file(path, options = nil) = parse(File.read(path, encoding: Encoding::UTF_8), options)

    # Parses a file without a limit of levels, and takes NaN and infinities.
    def load_file!(path, options = nil) = parse!(File.read(path, encoding: Encoding::UTF_8), options)

    # The same as `generate`.
    def unparse(...) = generate(...)

    # The same as `generate`; deprecated.
    def fast_generate(object, options = nil)
      warn "JSON.fast_generate is deprecated and will be removed in json 3.0.0, just use JSON.generate", uplevel: 0, category: :deprecated
      generate(object, options)
    end
    alias fast_unparse fast_generate

    # The JSON of an object in lines, indented by two spaces.
    #
    #     JSON.pretty_generate({ a: [1] })   #=> "{\n  \"a\": [\n    1\n  ]\n}"
    def pretty_generate(object, options = nil)
      return options.generate(object) if State === options
      if options
        options = PRETTY_GENERATE_OPTIONS.merge(options_of(options).transform_keys(&:to_sym))
      end
      State.new(options || PRETTY_GENERATE_OPTIONS).generate(object)
    end
    alias pretty_unparse pretty_generate

    # The object of a text, or of an IO's content; takes NaN, and an empty text for nil. A Proc is called with each value and gives what stands in its place.
    def load(source, proc = nil, options = nil)
      options, proc = proc, nil if Hash === proc && options.nil?
      __load(source, proc, options ? @load_default_options.merge(options) : @load_default_options)
    end
    alias restore load

    # The same as `load`, and makes objects of classes that the text names: for texts that can be trusted alone.
    def unsafe_load(source, proc = nil, options = nil)
      return __load(source, nil, proc) if Hash === proc && options.nil?
      __load(source, proc, options ? @unsafe_load_default_options.merge(options) : @unsafe_load_default_options)
    end

    # The JSON of an object, also of NaN and infinities; with an IO it is written there. `limit` bounds the levels: ArgumentError.
    def dump(object, io = nil, limit = nil, kwargs = nil)
      if kwargs.nil?
        if limit.nil?
          if Hash === io
            kwargs, io = io, nil
          end
        elsif Hash === limit
          kwargs, limit = limit, nil
        end
      end
      if io && limit.nil? && !io.respond_to?(:write) && !io.respond_to?(:to_io)
        limit, io = io, nil
      end
      io = io.to_io if io.respond_to?(:to_io) && !io.respond_to?(:write)
      options = @dump_default_options
      options = options.merge(max_nesting: limit) if limit
      options = options.merge(kwargs) if kwargs
      begin
        State.new(options).generate(object, io)
      rescue NestingError
        raise ArgumentError, "exceed depth limit"
      end
    end

    private def __load(source, proc, options)
      if source.respond_to?(:to_str) then source = source.to_str
      elsif source.respond_to?(:to_io) then source = source.to_io.read
      elsif source.respond_to?(:read) then source = source.read
      end
      source = "null" if options[:allow_blank] && (source.nil? || source.empty?)
      options = options.merge(on_load: proc.to_proc) if proc
      parse(source, options)
    end

    # The object that a Hash with a class name stands for.
    private def __create(hash, mode)
      name = hash[create_id] if Hash === hash || hash.respond_to?(:[])
      return hash unless name
      return hash if mode.nil? && !(String === name)
      klass = begin
        Object.const_get(name)
      rescue NameError => e
        raise ArgumentError, "can't get const #{name}: #{e}"
      end
      return hash unless klass.respond_to?(:json_creatable?) ? klass.json_creatable? : klass.respond_to?(:json_create)
      if mode.nil?
        warn "JSON.load implicit support for `create_additions: true` is deprecated and will be removed in 3.0, use JSON.unsafe_load or explicitly pass `create_additions: true`", category: :deprecated
      end
      klass.json_create(hash)
    end

    private def options_of(options)
      return options if options.is_a?(Hash)
      return options.to_hash if options.respond_to?(:to_hash)
      return options.to_h if options.respond_to?(:to_h)
      raise TypeError, "can't convert #{options.class} into Hash"
    end

    private def __match_string(text, patterns)
      _, klass = patterns.find { |pattern, k| k.json_creatable? && pattern === text }
      klass ? klass.json_create(text) : text
    end

    private def __decimal(klass, text)
      if klass.respond_to?(:try_convert) then klass.try_convert(text)
      elsif Kernel.private_method_defined?(klass.name) then __send__(klass.name, text)
      else klass.new(text)
      end
    end
  end

  # A pair of generator and parser with options of their own, and a block for objects that JSON has no form for.
  class Coder
    # Options of parsing and generating; the block makes what JSON can write of objects that it has no form for.
    #
    #     JSON::Coder.new { |o| o.to_s }.dump([1..2])   #=> "[\"1..2\"]"
    def initialize(options = nil, &as_json)
      options = options ? options.dup : {}
      options[:strict] = true
      @state = State.new(as_json ? options.merge(as_json: as_json) : options).freeze
      @options = options
    end

    # The JSON of an object; with an IO it is written there.
    def dump(object, io = nil) = @state.dup.generate(object, io)
    alias generate dump

    # The object of a JSON text.
    def load(source) = JSON.__send__(:__parse, source, @options)
    alias parse load

    # The object of a file.
    def load_file(path) = load(File.read(path, encoding: Encoding::UTF_8))
  end

  # Methods for `include JSON`.
  private

  %i[generate pretty_generate parse parse! load unsafe_load dump load_file load_file! fast_generate restore unparse pretty_unparse fast_unparse].each do |name|
    define_method(name) { |*args, **options| options.empty? ? JSON.__send__(name, *args) : JSON.__send__(name, *args, options) }
  end
end

class Class
  # Whether the class makes objects of JSON: it has `json_create`.
  def json_creatable? = respond_to?(:json_create)
end

module Kernel
  private

  # Prints objects as JSON, a line for each.
  def j(*objects)
    objects.each { |o| puts JSON.generate(o, allow_nan: true, max_nesting: false) }
    nil
  end

  # Prints objects as JSON in lines, indented.
  def jj(*objects)
    objects.each { |o| puts JSON.pretty_generate(o, allow_nan: true, max_nesting: false) }
    nil
  end

  # Parses a String, and makes JSON of everything else.
  def JSON(object, options = nil) = JSON[object, options]
end
