# msgpack's extension, what of it is not src/msgpack: arguments, streams, factories.
module MessagePack
  UnpackError = Class.new(StandardError)
  MalformedFormatError = Class.new(UnpackError)
  StackError = Class.new(UnpackError)
  module TypeError; end
  UnexpectedTypeError = Class.new(UnpackError) { include TypeError }
  UnknownExtTypeError = Class.new(UnpackError)
  ExtensionValue = Struct.new(:type, :payload)

  class HeldBuffer < BasicObject
    class << self
      undef_method :new, :allocate
    end
  end

  class Buffer
    # `io`: The stream that is read or written, or nil.
    attr_reader :io

    # A buffer, over a stream if one is given; `io_buffer_size:` is the bytes of a portion.
    def initialize(io = nil, options = nil)
      io, options = nil, io if io.is_a?(Hash) && options.nil?
      raise ArgumentError, "expected Hash but found #{options.class}." unless options.nil? || options.is_a?(Hash)
      @io = io
      @portion = options&.[](:io_buffer_size) || 32 << 10
      raise ArgumentError, "io_buffer_size must be positive" unless Integer === @portion
      @portion = @portion.clamp(1024, 1 << 30)
      __open
    end

    # Appends a text, and answers the number of its bytes.
    def write(text) = __append(__text(text))

    # Appends a text, and answers the buffer.
    def <<(text)
      __append(__text(text))
      self
    end

    # Takes up to `n` bytes, or all; nil at the end. `out` is overwritten.
    def read(n = (all = true; nil), out = nil)
      out = __out(out)
      return __read_all(out) if all
      return __give(out, "".b) if n == 0
      got = __gather(n)
      return (__give(out, got) if out; nil) if got.empty?
      __give(out, got)
    end

    # Takes exactly `n` bytes, or all; EOFError if there are not as many.
    def read_all(n = (all = true; nil), out = nil)
      out = __out(out)
      return __read_all(out) if all
      return __give(out, "".b) if n == 0
      __need(n)
      __give(out, __take(n))
    end

    # Drops up to `n` bytes, and answers how many.
    def skip(n)
      return 0 if n == 0
      skipped = __drop(n)
      skipped += __drop(n - skipped) while skipped < n && __feed_or_end
      skipped
    end

    # Drops exactly `n` bytes; EOFError if there are not as many.
    def skip_all(n)
      return self if n == 0
      __need(n)
      __drop(n)
      self
    end

    # An Array of the content as one String.
    def to_a = [to_s]

    # Writes the content to the stream.
    def flush
      __flush_to(@io, @io.respond_to?(:write) || !@io.respond_to?(:<<) ? :write : :<<) if @io
      self
    end

    # Writes the content to an IO, and answers the number of bytes.
    def write_to(io) = __flush_to(io, :write)
    # Closes the stream.
    def close = @io&.close

    # One portion more from the stream; false without one. EOFError at its end.
    def __feed # :nodoc:
      return false unless @io
      got = @io.respond_to?(:readpartial) ? @io.readpartial(@portion) : @io.read(@portion)
      raise EOFError, "IO reached end of file" if got.nil?
      raise EOFError, "IO reached end of file" if got.empty?
      __append(got)
      true
    end

    # Once there is enough, what a packer has written goes to the stream.
    def __written # :nodoc:
      flush if @io && size >= @portion
    end

    private def __feed_or_end
      __feed
    rescue EOFError
      false
    end

    private def __text(text)
      return text if String === text
      raise ::TypeError, "no implicit conversion of #{text.nil? ? "nil" : text.class} into String" unless text.respond_to?(:to_str)
      text.to_str
    end

    private def __out(out)
      return nil if out.nil?
      String.try_convert(out) || raise(::TypeError, "instance of String needed")
    end

    private def __give(out, text) = out ? out.replace(text) : text

    private def __read_all(out)
      got = __take(size)
      got << __take(size) while __feed_or_end
      __give(out, got)
    end

    private def __gather(n)
      got = __take(n)
      while got.bytesize < n && __feed_or_end
        got << __take(n - got.bytesize)
      end
      got
    end

    private def __need(n)
      until size >= n
        raise EOFError, "end of buffer reached" unless __feed
      end
    end

    private def __flush_to(io, name)
      n = size
      io.__send__(name, __take(n)) if n > 0
      n
    end
  end

  class Packer
    # A packer, to a stream if one is given; `compatibility_mode: true` writes the older form of texts.
    def initialize(io = nil, options = nil)
      io, options = nil, io if io.is_a?(Hash) && options.nil?
      raise ::TypeError, "wrong argument type #{options.class} (expected Hash)" unless options.nil? || options.is_a?(Hash)
      __setup(Buffer.new(io, options), options ? options[:compatibility_mode] : false)
    end

    # Writes an object; NoMethodError for one that has no form.
    def write(value)
      __write(value)
      buffer.__written
      self
    end
    alias pack write

    # Writes a String as bytes.
    def write_bin(text)
      raise ::TypeError, "wrong argument type #{text.class} (expected String)" unless String === text
      write_bin_header(text.bytesize) unless compatibility_mode?
      return write_string(text) if compatibility_mode?
      buffer << text
      self
    end

    # Writes an ExtensionValue; RangeError for types beyond a byte.
    def write_extension(value)
      raise ::TypeError, "wrong argument type #{value.class} (expected Struct)" unless Struct === value
      type, payload = value.to_a
      raise RangeError, "integer #{type} too big to convert to `signed char'" unless Integer === type && type.between?(-128, 127)
      write_ext(type, payload)
    end

    # Writes what waits to the stream.
    def flush
      buffer.flush
      self
    end

    # Drops what was written.
    def reset = buffer.clear
    alias clear reset
    # The bytes that wait.
    def size = buffer.size
    # Whether nothing waits.
    def empty? = buffer.empty?
    # Writes what waits to an IO, and answers the number of bytes.
    def write_to(io) = buffer.write_to(io)
    # What was written, as a String.
    def to_str = buffer.to_str
    alias to_s to_str
    # An Array of what was written as one String.
    def to_a = buffer.to_a

    # All that was written, unless it goes to a stream.
    def full_pack
      if buffer.io
        flush
        buffer.clear
        return nil
      end
      packed = to_s
      buffer.clear
      packed
    end

    # :nodoc:
    def register_type_internal(type, mod, proc)
      raise FrozenError, "can't modify frozen MessagePack::Packer" if frozen?
      type = MessagePack.__send__(:__type, type)
      self.__types = (__types || {}).merge(mod => [type, proc, 0])
      __special(mod == Symbol, false)
      nil
    end

    private def registered_types_internal = __types ? __types.dup : {}
  end

  class Unpacker
    NONE = Object.new.freeze
    private_constant :NONE

    # An unpacker, of a stream if one is given; options: `symbolize_keys:`, `freeze:`, `allow_unknown_ext:`.
    def initialize(io = nil, options = nil)
      io, options = nil, io if io.is_a?(Hash) && options.nil?
      raise ArgumentError, "expected Hash but found #{options.class}." unless options.nil? || options.is_a?(Hash)
      options ||= {}
      __setup(Buffer.new(io, options), options[:symbolize_keys], options[:freeze], options[:allow_unknown_ext])
    end

    # Adds bytes to unpack.
    def feed(text)
      buffer << text
      self
    end
    alias feed_reference feed

    # Drops the next object.
    def skip
      read
      nil
    end

    # Yields each object that is whole; without a block an Enumerator.
    def each
      return to_enum(:each) unless block_given?
      begin
        until NONE.equal?(value = __next(NONE))
          yield value
        end
        nil
      rescue EOFError
        raise unless buffer.io
        nil
      end
    end

    # Adds bytes, and yields each object that is whole.
    def feed_each(text, &block)
      return to_enum(:feed_each, text) unless block
      feed(text)
      each(&block)
    end

    # The one object that there is.
    def full_unpack
      value = read
      left = buffer.size
      raise MalformedFormatError, "#{left} extra bytes after the deserialized object" if left > 0
      value
    end

    # :nodoc:
    def register_type_internal(type, mod, proc)
      raise FrozenError, "can't modify frozen MessagePack::Unpacker" if frozen?
      type = MessagePack.__send__(:__type, type)
      self.__types = (__types || {}).merge(type => [mod, proc, 0])
      nil
    end

    private def registered_types_internal = __types ? __types.dup : {}
  end

  class Factory
    # A factory without types of its own.
    def initialize
      @packers = {}
      @unpackers = {}
      @symbols = @bignums = @symbol_type = nil
    end

    # A copy has its own types, and is not frozen.
    def dup
      copy = self.class.allocate
      types = [@packers, @unpackers, @symbols, @bignums, @symbol_type]
      copy.instance_eval { @packers, @unpackers, @symbols, @bignums, @symbol_type = types }
      copy
    end

    # A packer that knows the types.
    def packer(*args)
      packer = Packer.new(*args)
      packer.__types = @packers unless @packers.empty?
      packer.__special(@symbols, @bignums)
      packer
    end

    # An unpacker that knows the types.
    def unpacker(*args)
      unpacker = Unpacker.new(*args)
      unpacker.__types = @unpackers unless @unpackers.empty?
      unpacker.__symbol_type = @symbol_type if @symbol_type
      unpacker
    end

    private def registered_types_internal = [@packers.dup, @unpackers.dup]

    private def register_type_internal(type, mod, options)
      raise ::TypeError, "wrong argument type #{type.class} (expected Integer)" unless Integer === type
      raise ArgumentError, "expected Module/Class but found #{mod.class}." unless Module === mod
      raise ::TypeError, "wrong argument type #{options.class} (expected Hash)" unless options.nil? || Hash === options
      raise FrozenError, "can't modify frozen MessagePack::Factory" if frozen?
      type = MessagePack.__send__(:__type, type)
      options ||= nil
      if options&.[](:oversized_integer_extension)
        raise ArgumentError, "oversized_integer_extension: true is only for Integer class" unless mod == Integer
        @bignums = true
      end
      if mod == Symbol
        @symbols = true if options.nil? || options[:packer]
        @symbol_type = type if options&.[](:optimized_symbols_parsing)
      end
      flags = options&.[](:recursive) ? 1 : 0
      # New tables: packers and unpackers that were made before have the old ones.
      @packers = @packers.merge(mod => [type, options&.[](:packer), flags])
      @unpackers = @unpackers.merge(type => [mod, options&.[](:unpacker), flags])
      nil
    end
  end

  def self.__type(type)
    raise ::TypeError, "no implicit conversion of #{type.class} into Integer" unless type.respond_to?(:to_int)
    type = type.to_int
    raise RangeError, "integer #{type} too big to convert to `signed char'" unless type.between?(-128, 127)
    type
  end
  private_class_method :__type
end
