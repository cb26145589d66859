# fiddle's `fiddle.so`: the classes that its Ruby files expect from an extension, over Fiddle::Native (crates/gems/src/foreign).
module Fiddle
  private_constant :Native
  class Error < StandardError; end
  class DLError < Error; end
  class ClearedReferenceError < Error; end

  module Types
    VOID, VOIDP, CHAR, SHORT, INT, LONG, LONG_LONG, FLOAT, DOUBLE, VARIADIC, CONST_STRING, BOOL = *0..11
    UCHAR, USHORT, UINT, ULONG, ULONG_LONG = -CHAR, -SHORT, -INT, -LONG, -LONG_LONG
    INT8_T, INT16_T, INT32_T, INT64_T = CHAR, SHORT, INT, LONG
    UINT8_T, UINT16_T, UINT32_T, UINT64_T = UCHAR, USHORT, UINT, ULONG
    SIZE_T, SSIZE_T, PTRDIFF_T, INTPTR_T, UINTPTR_T = ULONG, LONG, LONG, LONG, ULONG
  end

  { VOIDP: 8, CHAR: 1, SHORT: 2, INT: 4, LONG: 8, LONG_LONG: 8, INT8_T: 1, INT16_T: 2, INT32_T: 4, INT64_T: 8, FLOAT: 4, DOUBLE: 8, SIZE_T: 8, SSIZE_T: 8,
    PTRDIFF_T: 8, INTPTR_T: 8, UINTPTR_T: 8, BOOL: 1 }.each do |name, size|
    const_set("SIZEOF_#{name}", size)
    const_set("ALIGN_#{name}", size)
  end
  SIZEOF_UCHAR, SIZEOF_USHORT, SIZEOF_UINT, SIZEOF_ULONG, SIZEOF_ULONG_LONG, SIZEOF_CONST_STRING = 1, 2, 4, 8, 8, 8
  SIZEOF_UINT8_T, SIZEOF_UINT16_T, SIZEOF_UINT32_T, SIZEOF_UINT64_T = 1, 2, 4, 8
  WINDOWS = false
  BUILD_RUBY_PLATFORM = RUBY_PLATFORM
  RUBY_FREE = Native.free_function
  # What CRuby's own objects are: the numbers of `dlwrap`.
  Qfalse, Qnil, Qtrue, Qundef = 0, 4, 20, 36

  # How a type looks to the natives, by its number.
  module Kinds
    BY_NUMBER = { 0 => 0, 1 => 12, 2 => 1, -2 => 2, 3 => 3, -3 => 4, 4 => 5, -4 => 6, 5 => 7, -5 => 8, 6 => 7, -6 => 8, 7 => 9, 8 => 10, 10 => 13, 11 => 14 }.freeze
    NAMES = { void: 0, voidp: 1, char: 2, short: 3, int: 4, long: 5, long_long: 6, int8_t: 2, int16_t: 3, int32_t: 4, int64_t: 5, float: 7, double: 8, variadic: 9,
              const_string: 10, size_t: -5, ssize_t: 5, ptrdiff_t: 5, intptr_t: 5, uintptr_t: -5, bool: 11 }.freeze

    # A type's number; types may be named, an `unsigned` may stand before or behind.
    def self.number(type)
      return type if Integer === type
      original = type
      if String === type || Symbol === type
        name = type.to_s
        negative = name.start_with?("unsigned_", "-") || name.match?(/\Au(?:char|short|int|long|long_long|int\d+_t)\z/)
        name = name.sub(/\A(?:unsigned_|-)/, "")
        name = name.delete_prefix("u") if negative && !NAMES.key?(name.to_sym)
        found = NAMES[name.to_sym]
        return negative && found > 0 ? -found : found if found
      end
      return original.to_int if original.respond_to?(:to_int)
      raise TypeError, "no implicit conversion of #{original.class} into Integer"
    end

    def self.kind(number) = BY_NUMBER[number] || raise(RuntimeError, "unknown type #{number}")

    # A result as Ruby sees it.
    def self.result(number, raw) = number == 1 ? Pointer[raw] : raw
  end
  private_constant :Kinds

  module_function

  # The address of `size` new bytes of C's heap, which `Fiddle.free` frees.
  def malloc(size) = Native.allocate(size)
  # The address of the bytes at `address`, made larger or smaller; they may have moved.
  def realloc(address, size) = Native.reallocate(Integer(address), size)

  # Frees what `Fiddle.malloc` gave; answers nil.
  def free(address)
    Native.free(Integer(address))
    nil
  end

  # Objects have no address here: a number stands for one as long as it lives.
  def dlwrap(object)
    return Qnil if object.nil?
    return Qtrue if object == true
    return Qfalse if object == false
    (@wrapped ||= ObjectSpace::WeakMap.new)[object.__id__] = object
    object.__id__ << 3
  end

  # The object that `dlwrap` gave the number for; ArgumentError if there is none.
  def dlunwrap(number)
    number = number.to_i
    case number
    when Qnil then nil
    when Qtrue then true
    when Qfalse then false
    else
      @wrapped&.key?(number >> 3) ? @wrapped[number >> 3] : raise(ArgumentError, "no object of this VM: #{number}")
    end
  end

  class Handle
    RTLD_LAZY, RTLD_NOW, RTLD_GLOBAL = 1, 2, 0x100

    class << self
      # The address of a symbol in what the process has loaded; DLError if there is none.
      def sym(name) = sym_defined?(name) || raise(DLError, "unknown symbol \"#{name}\"")
      alias [] sym
      # The address of a symbol in what the process has loaded, or nil.
      def sym_defined?(name) = Native.symbol(0, __name(name))

      def __name(name)
        name = String.try_convert(name) or raise TypeError, "no implicit conversion of #{name.class} into String"
        raise ArgumentError, "string contains null byte" if name.include?("\0")
        name
      end
    end

    # Opens a shared library by file name, without one the process itself; with a block it is closed when the block ends. DLError if that fails.
    #
    #     Fiddle::Handle.new["strlen"].is_a?(Integer)   #=> true
    def initialize(library = nil, flags = RTLD_LAZY | RTLD_GLOBAL)
      library &&= self.class.__name(library)
      handle = Native.open(library, flags)
      raise DLError, handle if String === handle
      @handle, @open, @close = handle, true, false
      return unless block_given?
      begin
        yield self
      ensure
        close
      end
    end

    # Closes the library; DLError if it is closed.
    def close
      raise DLError, "dlclose() called too many times" unless @open
      @open = false
      Native.close(@handle)
    end

    # The address of a symbol of the library; DLError if there is none.
    def sym(name) = sym_defined?(name) || raise(DLError, "unknown symbol \"#{name}\"")
    alias [] sym

    # The address of a symbol of the library, or nil; DLError if the handle is closed.
    def sym_defined?(name)
      raise DLError, "closed handle" unless @open
      Native.symbol(@handle, self.class.__name(name))
    end

    # The file that the library was loaded from.
    def file_name = Native.file(@handle) || raise(DLError, "could not get handle file name: #{Native.error}")
    # The loader's handle as Integer.
    def to_i = @handle
    # The loader's handle as Fiddle::Pointer.
    def to_ptr = Pointer.new(@handle)

    # Notes that the library is to be closed with the handle.
    def enable_close
      @close = true
      nil
    end

    # Notes that the library is to stay when the handle goes.
    def disable_close
      @close = false
      nil
    end

    # Whether the library is to be closed with the handle.
    def close_enabled? = @close

    # The handles that the system knows without opening.
    %w[DEFAULT NEXT].each_with_index do |name, i|
      handle = allocate
      handle.instance_exec { @handle, @open, @close = -i, true, false }
      const_set(name, handle.freeze)
    end
  end

  class Pointer
    # The bytes that the pointer is known to point to; 0 if nobody said.
    attr_reader :size

    class << self
      # A pointer to `size` new bytes, which are zeroed; `free` is the function that frees them once nothing refers to the pointer, with a block when the block ends.
      def malloc(size, free = nil)
        pointer = allocate
        pointer.__send__(:__allocated, size, free)
        return pointer unless block_given?
        raise ArgumentError, "a free function must be supplied to Fiddle::Pointer.malloc when it is called with a block" unless free
        begin
          yield pointer
        ensure
          pointer.call_free
        end
      end

      # A pointer to a String's bytes (a copy of them that what is written through the pointer goes back from), to what `to_ptr` gives, or to an address.
      def to_ptr(value)
        case value
        when String
          pointer = allocate
          pointer.__send__(:__over, value)
          pointer
        when IO then raise NotImplementedError, "a pointer to a FILE"
        else
          if value.respond_to?(:to_ptr)
            pointer = value.to_ptr
            raise DLError, "to_ptr should return a Fiddle::Pointer object" unless Pointer === pointer
            pointer.instance_variable_set(:@wrapped, value) unless pointer.frozen? || pointer.equal?(value)
            return pointer
          end
          number = Integer(value)
          pointer = new(number)
          pointer.instance_variable_set(:@wrapped, value) unless number.equal?(value)
          pointer
        end
      end
      alias [] to_ptr

      # `count` bytes at an address, as a String.
      def read(address, count) = new(address)[0, count]

      # Writes the bytes of a String at an address, and answers the String.
      def write(address, string)
        new(address)[0, string.bytesize] = string
        string
      end
    end

    # A pointer to an address; `size` in bytes and the function that frees the memory may be told.
    def initialize(address, size = 0, free = nil)
      number = Integer(address)
      @wrapped = address unless number.equal?(address)
      raise TypeError, "no implicit conversion of #{size.class} into Integer" unless size.respond_to?(:to_int)
      __at(number & 0xffff_ffff_ffff_ffff, nil, 1)
      @size = size.to_int
      self.free = free if free
    end

    # Tells how many bytes the pointer points to.
    def size=(size)
      @size = size
    end

    # The address as Integer.
    def to_i = __address
    alias to_int to_i
    # Whether the address is 0.
    def null? = __address == 0
    # The object that `Fiddle.dlwrap` gave this address for.
    def to_value = Fiddle.dlunwrap(to_i)
    # The pointer that stands at the address.
    def ptr = self.class.new(__get(12, 0))
    alias +@ ptr

    # A pointer to a place with this address in it.
    def ref
      place = Pointer.malloc(8, RUBY_FREE)
      place.__put(12, 0, self)
      place.size = 0
      place.instance_variable_set(:@wrapped, self)
      place
    end
    alias -@ ref

    # The text before the first NUL, or `count` bytes.
    def to_s(count = nil) = count ? __bytes(0, count) : __text(0, nil)
    # `count` bytes, or as many as `size` says.
    #
    #     Fiddle::Pointer["abc"].to_str   #=> "abc"
    def to_str(count = nil)
      count ||= @size
      raise ArgumentError, "negative string size (or size too big)" if count < 0
      __bytes(0, count)
    end

    # Address, size and the function that frees.
    def inspect
      "#<#{self.class}:0x#{"%x" % (__id__ << 3)} ptr=0x#{"%x" % to_i} size=#{@size} free=#{@free ? "0x%x" % @free.address : "0x0"}>"
    end

    # Whether both have the same address.
    def ==(other) = Pointer === other && other.to_i == to_i
    alias eql? ==
    # The same for pointers to the same address.
    def hash = to_i.hash
    # Compares addresses; nil for other objects.
    def <=>(other) = Pointer === other ? to_i <=> other.to_i : nil

    # The pointer so many bytes further on; its size is smaller by as many.
    def +(offset) = __beside(offset)
    # The pointer so many bytes before; its size is larger by as many.
    def -(offset) = __beside(-offset)

    # The byte at an offset as signed Integer, or `count` bytes from there as String; DLError for NULL.
    def [](at, count = nil)
      raise DLError, "NULL pointer dereference" if null?
      count ? __bytes(at, count) : __get(1, at)
    end

    # `pointer[at] = byte`, or `pointer[at, count] = source` with a String (filled up with NULs) or an address to copy from; DLError for NULL.
    def []=(at, value, source = (single = true; nil))
      raise DLError, "NULL pointer dereference" if null?
      if single
        __put(2, at, value & 0xff)
      elsif String === source
        __set_bytes(at, source.bytesize < value ? source + "\0" * (value - source.bytesize) : source, 0, value)
      else
        Native.copy(to_i + at, Integer(source), value)
      end
      __back(at, single ? 1 : value)
    end

    # What frees the memory: a Function, or nil.
    def free = @free && !@free.cancelled? && Function.new(@free.address, [Types::VOIDP], Types::VOID)

    # Sets the function (a Function, Closure or address) that frees the memory, once, when nothing refers to the pointer; nil: none.
    def free=(function)
      @free&.cancel
      @free = nil
      return if function.nil?
      function = function.to_i if Function === function || Closure === function
      address = Integer(function)
      return if address == 0
      @free = Freeing.new(address, to_i)
      ObjectSpace.define_finalizer(self, @free)
    end

    # Frees the memory at once by its function, if it has one; answers nil.
    def call_free
      @free&.call
      nil
    end

    # Whether its function has freed the memory.
    def freed? = @free ? @free.done? : false

    # Frees once, by a foreign function.
    class Freeing
      INTERFACE = Native.interface(0, [12])
      attr_reader :address

      def initialize(address, pointer)
        @address, @pointer = address, pointer
      end

      def call(*)
        return if @pointer.nil? || @pointer == 0
        pointer, @pointer, @done = @pointer, nil, true
        Native.call(INTERFACE, @address, [pointer], 2)
      end

      def cancel = @pointer = nil
      def cancelled? = !@done && @pointer.nil?
      def done? = @done ? true : false
    end
    private_constant :Freeing

    private

    def __allocated(size, free)
      __at(Native.allocate([size, 1].max), nil, 1)
      __clear(size) if size > 0
      @size = size
      self.free = free if free
    end

    def __over(text)
      @wrapped = text
      __allocate(1, @wrapped.bytesize + 1)
      __set_bytes(0, @wrapped, 0, @wrapped.bytesize)
      __resize(nil)
      @size = @wrapped.bytesize
    end

    # What was written goes to the String that this is a pointer to: these bytes alone, since programs write byte by byte.
    def __back(at, count)
      text = @wrapped
      return unless String === text && !text.frozen? && __allocated?
      count = [count, text.bytesize - at].min
      return if at < 0 || count <= 0
      return text.setbyte(at, __get(2, at)) if count == 1
      encoding = text.encoding
      text.force_encoding(Encoding::BINARY)[at, count] = __bytes(at, count)
      text.force_encoding(encoding)
    end

    def __beside(offset)
      other = Pointer.allocate
      whole, size = self, @size - offset
      other.instance_exec do
        __part(whole, offset, nil)
        @size, @parent = size, whole
      end
      other
    end
  end
  NULL = Pointer.new(0)

  class Closure < Native::Closure
    # A function pointer for C whose calls reach the method `call` of a subclass. Types are TYPE_ constants or names, first the result's.
    def initialize(result, parameters, abi = Function::DEFAULT)
      raise TypeError, "no implicit conversion of #{abi.inspect} into Integer" unless Integer === abi
      raise TypeError, "wrong argument type #{parameters.class} (expected Array)" unless Array === parameters
      @args = parameters.map { |t| Kinds.number(t) }.freeze
      @ctype = Kinds.number(result)
      kinds = @args == [0] ? [] : @args.map { |t| Kinds.kind(t) }
      __prepare(Native.interface(Kinds.kind(@ctype), kinds))
    end

    def __called(args)
      args.map!.with_index { |raw, i| Kinds.result(@args[i], raw) }
      answer = call(*args)
      case @ctype
      when 0 then nil
      when 1 then answer.nil? ? 0 : Integer(answer)
      when 10
        @text = Pointer[answer]
        @text.to_i
      when 11 then answer ? true : false
      when 7, 8 then answer.nil? ? Float(nil) : answer
      else Integer(answer)
      end
    end

    # The address as Integer; ArgumentError if it is freed.
    def to_i
      raise ArgumentError, "already freed: #{inspect}" if freed?
      address
    end

    # Frees the function pointer: C code must not call it any more. Answers nil.
    def free
      super
      nil
    end
  end

  class Function
    DEFAULT = 2

    # A function of C at `ptr`. Types are TYPE_ constants or names; with TYPE_VARIADIC at the end more arguments may follow in pairs of type and value.
    #
    #     strlen = Fiddle::Function.new(Fiddle::Handle.new["strlen"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_INT)
    #     strlen.call("hello")   #=> 5
    def initialize(ptr, parameters, result, abi = DEFAULT, name: nil, need_gvl: false)
      raise TypeError, "wrong argument type #{parameters.class} (expected Array)" unless Array === parameters
      @closure = ptr
      @name = String === name ? -name : name
      @need_gvl = need_gvl
      @ptr = Integer(ptr)
      @abi = abi.nil? ? DEFAULT : Integer(abi)
      @return_type = Kinds.number(result)
      kind = Kinds.kind(@return_type)
      numbers = parameters.map { |t| Kinds.number(t) }
      if (at = numbers.index(Types::VARIADIC))
        raise ArgumentError, "Fiddle::TYPE_VARIADIC must be the last argument type: #{parameters}" if at != numbers.size - 1
        numbers.pop
        @is_variadic = true
      else
        @is_variadic = false
      end
      kinds = numbers.map { |t| Kinds.kind(t) }
      @argument_types = numbers.freeze
      @interface = Native.interface(kind, kinds) unless @is_variadic
      @mode = need_gvl ? 2 : 3
    end

    # Calls the function; `Fiddle.last_error` is C's `errno` afterwards. ArgumentError for another number of arguments than it has parameters.
    def call(*args)
      fixed = @argument_types.size
      numbers, interface = @argument_types, @interface
      if @is_variadic
        raise ArgumentError, "wrong number of arguments (given #{args.size}, expected #{fixed}+)" if args.size < fixed
        raise ArgumentError, "variadic arguments must be type and value pairs: #{args}" if (args.size - fixed).odd?
        pairs = args.drop(fixed).each_slice(2).to_a
        numbers += pairs.map { |type, _| Kinds.number(type) }
        args = args.first(fixed) + pairs.map(&:last)
        interface = Native.interface(Kinds.kind(@return_type), numbers.map { |t| Kinds.kind(t) }, fixed)
      elsif args.size != fixed
        raise ArgumentError, "wrong number of arguments (given #{args.size}, expected #{fixed})"
      end
      numbers.each_with_index do |number, i|
        case number
        when 1
          value = args[i]
          args[i] = __pointer(value) unless value.nil? || Integer === value || Pointer === value || String === value
        when 2, -2
          value = args[i]
          args[i] = number == 2 ? value.unpack1("c") : value.ord if String === value && value.bytesize == 1
        when 11 then args[i] = args[i] ? true : false
        end
      end
      raw = Native.call(interface, @ptr, args, @mode)
      Fiddle.last_error = Native.errno
      Kinds.result(@return_type, raw)
    end

    private def __pointer(value)
      return value.to_i if Closure === value || Function === value
      Pointer[value]
    end
  end

  # Keeps an object where it is, which all objects are here, until it is cleared.
  class Pinned
    # Keeps an object.
    def initialize(object)
      @object, @cleared = object, false
    end

    # The object; ClearedReferenceError once it is cleared.
    def ref
      raise ClearedReferenceError, "`ref` called on a cleared object" if @cleared
      @object
    end

    # Lets the object go; answers nil.
    def clear
      @object, @cleared = nil, true
      nil
    end

    # Whether the object was let go.
    def cleared? = @cleared
  end
end
