# ffi's `ffi_c`: the classes that its Ruby files expect from an extension, over FFI::Native (crates/gems/src/foreign).
# A type knows what number or structure stands for it (`__spec`), how an argument becomes what the natives take (`__to_raw`), and a result what Ruby sees (`__from_raw`).
module FFI
  private_constant :Native
  NullPointerError = Class.new(RuntimeError)
  NativeType = Module.new
  TypeDefs = {}

  # The program's own types. Each VM has its own.
  def self.custom_typedefs = @custom_typedefs ||= {}
  # :nodoc:
  def self._async_cb_dispatcher_atfork_child = Native::Closure.forked

  class Type
    # `size`: Bytes that a value of the type takes.
    # `alignment`: Bytes that the address of a value has to be a multiple of.
    attr_reader :size, :alignment, :__spec

    # A type of so many bytes, or one like another type; TypeError for anything else.
    def initialize(value)
      if Integer === value
        @size, @alignment, @__spec = value, 1, nil
      elsif Type === value
        @size, @alignment, @__spec = value.size, value.alignment, value.__spec
      else
        raise TypeError, "wrong type"
      end
      freeze
    end

    # The class with size and alignment.
    def inspect = "#<#{self.class}::0x#{"%016x" % (object_id << 3)} size=#{size} alignment=#{alignment}>"
    def __simple? = false
    def __callback? = false
    def __to_raw(value, _enums) = value
    def __from_raw(raw) = raw
    def __answer(value) = value
    def __get(_memory, _at) = raise(ArgumentError, "get not supported for #{self.class}")
    def __put(_memory, _at, _value) = raise(ArgumentError, "put not supported for #{self.class}")
    def __accessible? = false

    # The type that a name stands for; nil: none.
    def self.__find(name)
      return name if Type === name
      return unless Symbol === name || String === name
      found = FFI.__send__(:custom_typedefs)[name] || TypeDefs[name]
      found if Type === found
    end

    def self.__of(name, what) = __find(name) || raise(TypeError, "Invalid #{what} type (#{name.inspect})")

    # Bytes of a number, a type, or its name.
    def self.__size(type)
      case type
      when Integer then type
      when Symbol
        found = TypeDefs[type]
        found.respond_to?(:size) ? found.size : FFI.type_size(type)
      else type.size
      end
    end

    class Builtin < Type
      class << self
        undef_method :new
      end

      def self.__make(name, kind, size)
        type = allocate
        type.__send__(:__set, name, kind, size)
        type.freeze
        [Type, NativeType].each { |m| m.const_set(name, type) }
        FFI.const_set("TYPE_#{name}", type)
        type
      end

      # The name of the type with size and alignment.
      def inspect = "#<FFI::Type::Builtin::#{@name} size=#{size} alignment=#{alignment}>"

      # Whether an argument can be handed on as it is.
      def __simple? = true
      def __accessible? = @__spec && @__spec > 0 && @name != :VARARGS

      def __to_raw(value, enums)
        return value unless enums && Symbol === value
        @__spec.between?(1, 11) ? enums.__map_symbol(value) : value
      end

      def __from_raw(raw) = @__spec == 12 ? Pointer.__at(raw) : raw

      # What a callback gives, as the natives take it.
      def __answer(value)
        case @__spec
        when 12 then Pointer === value ? value : nil
        when 14 then value == true
        when 13 then nil
        else value
        end
      end

      def __get(memory, at)
        case @__spec
        when 12 then memory.get_pointer(at)
        when 13
          memory.null? ? nil : memory.__get(13, at)
        else memory.__get(@__spec, at)
        end
      end

      def __put(memory, at, value)
        raise ArgumentError, "Cannot set :string fields" if @__spec == 13
        memory.__put(@__spec, at, value)
      end

      private def __set(name, kind, size)
        @name, @__spec, @size = name, kind, size
        @alignment = size == 0 ? 1 : size
      end
    end

    { VOID: [0, 1], INT8: [1, 1], UINT8: [2, 1], INT16: [3, 2], UINT16: [4, 2], INT32: [5, 4], UINT32: [6, 4], INT64: [7, 8], UINT64: [8, 8], LONG: [7, 8], ULONG: [8, 8],
      FLOAT32: [9, 4], FLOAT64: [10, 8], LONGDOUBLE: [11, 16], POINTER: [12, 8], STRING: [13, 8], BUFFER_IN: [12, 8], BUFFER_OUT: [12, 8], BUFFER_INOUT: [12, 8],
      BOOL: [14, 1], VARARGS: [0, 1] }.each { |name, (kind, size)| Builtin.__make(name, kind, size) }
    { INT8: %i[SCHAR CHAR], UINT8: %i[UCHAR], INT16: %i[SHORT SSHORT], UINT16: %i[USHORT], INT32: %i[INT SINT], UINT32: %i[UINT], INT64: %i[LONG_LONG SLONG_LONG],
      UINT64: %i[ULONG_LONG], LONG: %i[SLONG], FLOAT32: %i[FLOAT], FLOAT64: %i[DOUBLE] }.each do |name, others|
      others.each { |other| const_set(other, const_get(name)) }
    end

    # A type with a converter: `native_type`, `to_native`, `from_native`.
    class Mapped < Type
      # `converter`: The object whose `to_native` and `from_native` convert.
      # `native_type`: The type that C code sees.
      attr_reader :converter, :native_type
      alias type native_type

      # A type that `converter` converts to and from its `native_type`; NoMethodError if it lacks one of the three methods, TypeError if its `native_type` is no FFI::Type.
      def initialize(converter)
        %i[native_type to_native from_native].each do |name|
          raise NoMethodError, "#{name} method not implemented" unless converter.respond_to?(name)
        end
        native = converter.native_type
        raise TypeError, "native_type did not return instance of FFI::Type" unless Type === native
        @converter, @native_type = converter, native
        freeze
      end

      # The size of the native type in bytes.
      def size = @native_type.size
      # The alignment of the native type in bytes.
      def alignment = @native_type.alignment
      def __spec = @native_type.__spec
      # What the converter makes of a value for C code.
      def to_native(*args) = @converter.to_native(*args)
      # What the converter makes of a value from C code.
      def from_native(*args) = @converter.from_native(*args)
      def __callback? = @native_type.__callback?
      def __to_raw(value, enums) = @native_type.__to_raw(@converter.to_native(value, nil), enums)
      def __from_raw(raw) = @converter.from_native(@native_type.__from_raw(raw), nil)
      def __answer(value) = @native_type.__answer(@converter.to_native(value, nil))
      def __accessible? = @native_type.__accessible?
      def __get(memory, at) = @converter.from_native(@native_type.__get(memory, at), nil)
      def __put(memory, at, value) = @native_type.__put(memory, at, @converter.to_native(value, nil))
      # Whether a structure has to keep the object that was written to a field of the type: the converter says so.
      def reference_required? = @converter.respond_to?(:reference_required?) && @converter.reference_required?
    end
  end

  class ArrayType < Type
    # `length`: The number of elements.
    # `elem_type`: The type of the elements.
    attr_reader :length, :elem_type

    # The type of `length` elements of a type; TypeError if `component` is none.
    def initialize(component, length)
      component = Type.__find(component) or raise TypeError, "Invalid array type"
      @elem_type, @length = component, length
      @size, @alignment = component.size * length, component.alignment
      @__spec = [@size, @alignment, *::Array.new([length, 4096].min, component.__spec)]
      freeze
    end
  end
  Type::Array = ArrayType

  # A structure that is passed and given by value.
  class StructByValue < Type
    # `struct_class`: The subclass of FFI::Struct.
    # `layout`: Its StructLayout.
    attr_reader :struct_class, :layout

    # The type of structures of a class that has a layout; TypeError without one.
    def initialize(struct_class)
      layout = struct_class.instance_variable_get(:@layout)
      raise TypeError, "wrong type in @layout ivar (expected FFI::StructLayout)" unless StructLayout === layout
      @struct_class, @layout = struct_class, layout
      freeze
    end

    # The size of the structure in bytes.
    def size = @layout.size
    # The alignment of the structure in bytes.
    def alignment = @layout.alignment
    def __spec = @layout.__spec

    def __to_raw(value, _enums)
      return value.pointer if Struct === value
      AbstractMemory === value ? value : value.respond_to?(:to_ptr) ? value.to_ptr : raise(TypeError, "wrong argument type #{value.class} (expected Struct)")
    end

    def __from_raw(raw)
      memory = MemoryPointer.new(1, raw.bytesize, false)
      memory.put_bytes(0, raw)
      @struct_class.new(memory)
    end

    def __answer(value) = Struct === value ? value.pointer : nil
  end
  Type::Struct = StructByValue

  # What a function takes and gives; also the type of function pointers.
  class FunctionType < Type
    # `return_type`: The type of what the function gives.
    attr_reader :return_type, :__blocking

    # The type of functions with these parameters and this result, which are types or their names. Options: `enums:`, and `blocking: true` for calls that may wait, beside which other threads run.
    def initialize(result, parameters, options = nil)
      raise TypeError, "wrong argument type #{parameters.class} (expected Array)" unless ::Array === parameters
      @param_types = parameters.map { |t| Type.__of(t, "parameter") }.freeze
      @return_type = Type.__of(result, "return")
      @enums = options && options[:enums]
      @__blocking = (options && options[:blocking]) ? true : false
      @mode = @__blocking ? 1 : 0
      @callbacks = @param_types.count(&:__callback?)
      @simple = @callbacks == 0 && !@enums && @param_types.all?(&:__simple?)
      @raw = @return_type.__simple? && @return_type.__spec != 12
      @interface = Native.interface(@return_type.__spec, @param_types.map(&:__spec))
      freeze
    end

    # Bytes of a function pointer, 8.
    def size = 8
    # Bytes that the address of a function pointer is a multiple of, 8.
    def alignment = 8
    def __spec = 12
    def __interface = @interface
    # The types of the parameters.
    def param_types = @param_types.dup
    def __parameters = @param_types
    def __callback? = true

    def __to_raw(value, _enums)
      case value
      when nil, Function, Pointer then value
      else
        raise TypeError, "wrong argument type #{value.class} (expected Proc or Function)" unless value.respond_to?(:call)
        Function.__for_proc(self, value)
      end
    end

    def __from_raw(raw) = raw == 0 ? nil : Function.__new(self, Pointer.__at(raw))
    def __answer(value) = Pointer === value ? value : value.respond_to?(:call) ? Function.__for_proc(self, value) : nil

    def __invoke(function, args, block)
      unless @simple && args.size == @param_types.size
        args = __arguments(args, block)
      end
      raw = Native.call(@interface, function, args, @mode)
      @raw ? raw : @return_type.__from_raw(raw)
    end

    private def __arguments(args, block)
      count = @param_types.size
      if args.size != count
        if block && args.size == count - 1 && @callbacks == 1
          args = args.dup.insert(@param_types.index(&:__callback?), block)
        else
          raise ArgumentError, "wrong number of arguments (#{args.size} for #{count})"
        end
      end
      enums = @enums
      args.each_with_index.map { |value, i| @param_types[i].__to_raw(value, enums) }
    end
  end
  CallbackInfo = FunctionInfo = FunctionType
  Type::Function = FunctionType

  class AbstractMemory
    class << self
      # Memory of the natives.
      def __new(...) = allocate.tap { |m| m.__send__(...) }
    end

    # The bytes of the memory; for a pointer of unknown size the largest 64-bit Integer.
    def size = __size || 0x7fff_ffff_ffff_ffff
    alias total size
    # Sets all bytes to 0.
    def clear = __clear(size)
    # The text that begins at the byte `at` and ends before the first NUL, or after `most` bytes.
    def get_string(at, most = nil) = __text(at, most)
    # An Array of the texts that the pointers from the start on point to: `count` of them, or all before the first NULL.
    def read_array_of_string(count = nil) = get_array_of_string(0, count)
    # `count` bytes from the byte `at` on, as a binary String; IndexError beyond the memory.
    def get_bytes(at, count) = __bytes(at, count)
    # The first `count` bytes as a binary String.
    def read_bytes(count) = __bytes(0, count)
    # Writes a String's bytes at the start: `(string, from = 0, count = nil)`, as `put_bytes` does.
    def write_bytes(...) = put_bytes(0, ...)
    # Whether the address is 0.
    def null? = __address == 0

    # Writes a String and a NUL behind it at the byte `at`, and answers the memory.
    #
    #     FFI::MemoryPointer.new(8).put_string(0, "hi").read_string   #=> "hi"
    def put_string(at, string)
      raise TypeError, "wrong argument type #{string.class} (expected String)" unless String === string
      __set_bytes(at, string + "\0", 0, string.bytesize + 1)
    end

    # Writes the bytes of a String, `count` of them from its byte `from` on, at the byte `at`, and answers the memory.
    def put_bytes(at, string, from = 0, count = nil)
      raise TypeError, "wrong argument type #{string.class} (expected String)" unless String === string
      raise RangeError, "index cannot be less than zero" if from < 0
      __set_bytes(at, string, from, count || string.bytesize - from)
    end

    # An Array of the texts that the pointers from the byte `at` on point to: `count` of them, or all before the first NULL.
    def get_array_of_string(at, count = nil)
      if count
        __get_all(13, at, count)
      else
        found = []
        while (limit = __size).nil? || at + 8 <= limit
          text = __get(13, at) or break
          found << text
          at += 8
        end
        found
      end
    end

    # Reads a value of a type, or of a type's name, at the byte `at`; ArgumentError for unknown types.
    #
    #     FFI::MemoryPointer.new(:int).write_int(3).get(:int, 0)   #=> 3
    def get(type, at)
      found = Type.__find(type)
      raise ArgumentError, "undefined type '#{type}'" unless found && found.__accessible?
      found.__get(self, at)
    end

    # Writes a value of a type, or of a type's name, at the byte `at`, and answers nil; ArgumentError for unknown types.
    def put(type, at, value)
      found = Type.__find(type)
      raise ArgumentError, "unsupported type '#{type}'" unless found && found.__accessible?
      found.__put(self, at, value)
      nil
    end

    # The memory from the element `index` on; elements are as large as the type that the memory was made of.
    def [](index) = self + index * type_size

    def __copy_from__(other, count)
      Native.copy(self, other, count)
      self
    end

    # Forbids to write in the memory, too.
    def freeze
      self.__send__(:__flags=, __flags & ~2)
      super
    end

    # A part of this memory, which stays as long as the part.
    private def __part_as(kind, offset, length)
      whole = self
      kind.allocate.tap { |part| part.instance_exec { __part(whole, offset, length); @parent = whole } }
    end

    private def __copy_of(other, size)
      __allocate(1, size)
      __unit(other.type_size)
      put_bytes(0, other.get_bytes(0, size)) if size > 0
      self
    end

    # In which order bytes stand; with an argument: the same memory seen in that one.
    def order(name = (asked = true; nil))
      here = [1].pack("S") == "\1\0".b ? :little : :big
      other = here == :little ? :big : :little
      return (__flags & 4) == 0 ? here : other if asked
      wanted = case name
               when :little then :little
               when :big, :network then :big
               when Symbol then raise ArgumentError, "unknown byte order"
               else here
               end
      return self if wanted == here
      __slice(0, __size).tap { |m| m.__send__(:__flags=, __flags | 4) }
    end
  end

  class Pointer < AbstractMemory
    SIZE = 8
    # The bytes of an address, 8.
    def self.size = 8

    # The pointer to an address; the same object for NULL.
    def self.__at(address)
      return NULL if address == 0
      pointer = Pointer.allocate
      pointer.__send__(:__at, address, nil, 1)
      pointer
    end

    # A pointer to an address (an Integer or another pointer); with a type before it, `[]` counts in elements of the type.
    def initialize(type, address = (alone = true; type))
      unit = alone ? 1 : Type.__size(type)
      case address
      when Pointer
        __part(address, 0, address.__send__(:__size))
        __unit(unit)
        @parent = address
      when Integer
        raise RangeError, "bignum too big to convert into 'unsigned long long'" if address >= 1 << 64 || address < -(1 << 63)
        __at(address, nil, unit)
        self.__send__(:__flags=, 0) if address == 0
      else raise TypeError, "wrong argument type, expected Integer or FFI::Pointer"
      end
    end

    def initialize_copy(other)
      size = other.__send__(:__size) or raise RuntimeError, "cannot duplicate unbounded memory area"
      __copy_of(other, size)
    end

    # The address as Integer.
    def address = __address
    alias to_i address
    # The pointer itself.
    def to_ptr = self

    # The address, and the size if it is known.
    def inspect
      size = __size
      "#<#{self.class} address=#{address == 0 ? "(nil)" : "0x%x" % address}#{" size=#{size}" if size}>"
    end
    alias to_s inspect

    # Whether both have the same address; nil is equal to NULL.
    def ==(other)
      return address == 0 if other.nil?
      Pointer === other && other.address == address
    end

    # The pointer so many bytes further on.
    def +(offset)
      size = __size
      __slice(offset, size && size - offset)
    end

    # The `length` bytes from `offset` on, as a pointer that keeps this memory alive.
    def slice(offset, length) = __slice(offset, length)

    # Frees allocated memory at once; for other pointers it only warns.
    def free
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      warn "calling free on non allocated pointer #{inspect} from #{caller.first}" unless __free
      self
    end

    # Whether the memory is freed once nothing refers to it; false leaves that to C code.
    def autorelease=(on)
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      __release if !on
      @autorelease = on ? true : false
    end

    # Whether the memory is freed once nothing refers to it.
    def autorelease? = defined?(@autorelease) ? @autorelease : __allocated?

    private def __slice(offset, length) = __part_as(Pointer, offset, length)

    null = allocate
    null.__send__(:__at, 0, nil, 1)
    null.__send__(:__flags=, 0)
    NULL = null
  end

  class MemoryPointer < Pointer
    # New memory with the bytes of a String and a NUL behind them.
    def self.from_string(text)
      text = String.try_convert(text) or raise TypeError, "no implicit conversion of #{text.class} into String"
      new(1, text.bytesize + 1, false).put_string(0, text)
    end

    # New memory for `count` values of a type (or of so many bytes), zeroed. With a block it is yielded, and freed when the block ends.
    #
    #     FFI::MemoryPointer.new(:int, 10).size   #=> 40
    def initialize(type, count = 1, _clear = true)
      __allocate(Type.__size(type), count)
      return unless block_given?
      begin
        yield self
      ensure
        free
      end
    end

    # Frees the memory at once.
    def free
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      __free
      self
    end
  end

  # Memory without an address of its own to tell.
  class Buffer < AbstractMemory
    # New memory for `count` values of a type (or of so many bytes), zeroed. With a block it is yielded, and freed when the block ends.
    def initialize(type, count = 1, _clear = true)
      __allocate(Type.__size(type), count)
      return unless block_given?
      begin
        yield self
      ensure
        __free
      end
    end

    class << self
      # The same as `new`, for memory that C code reads and writes.
      def alloc_inout(type, count = 1, clear = true, &block) = new(type, count, clear, &block)
      alias alloc_in alloc_inout
      alias alloc_out alloc_inout
      alias new_in alloc_inout
      alias new_out alloc_inout
      alias new_inout alloc_inout
    end

    def initialize_copy(other) = __copy_of(other, other.size)

    # The bytes of the buffer.
    def length = size
    # The class with address and size.
    def inspect = "#<#{self.class}:0x#{"%x" % __id__} address=0x#{"%x" % __address} size=#{size}>"
    # The buffer from the byte `offset` on; it shares the memory.
    def +(offset) = __slice(offset, size - offset)
    # The `length` bytes from `offset` on; they share the memory.
    def slice(offset, length) = __slice(offset, length)

    private def __slice(offset, length) = __part_as(Buffer, offset, length)
  end

  class DynamicLibrary
    RTLD_LAZY = 1
    RTLD_NOW = 2
    RTLD_BINDING_MASK = 3
    RTLD_NOLOAD = 4
    RTLD_DEEPBIND = 8
    RTLD_GLOBAL = 0x100
    RTLD_LOCAL = 0
    RTLD_NODELETE = 0x1000
    RTLD_FIRST = RTLD_MEMBER = RTLD_ALL_MASK = RTLD_LAZYLOAD = 0

    class Symbol < Pointer
      attr_reader :__library

      def self.__of(library, name, address)
        allocate.tap { |s| s.instance_exec { __at(address, nil, 1); @library, @name = library, name } }
      end

      def initialize_copy(other)
        of = other
        __part(of, 0, nil)
        @library, @name = other.instance_variable_get(:@library), other.instance_variable_get(:@name)
        self
      end

      # Name and address.
      def inspect = "#<FFI::DynamicLibrary::Symbol name=#{@name} address=0x#{"%x" % address}>"
    end

    # The name that the library was opened by; nil: the process itself.
    attr_reader :name

    # Opens a library; the same as `new`.
    def self.open(name, flags) = new(name, flags)
    # The text of the last error of the system's loader.
    def self.last_error = Native.error

    # Opens a shared library by file name, nil for the process itself; `flags` are RTLD_ constants. LoadError if that fails.
    def initialize(name, flags)
      handle = Native.open(name, flags & 0xffff | ((flags & 3) == 0 ? RTLD_LAZY : 0))
      raise LoadError, "Could not open library '#{name || "[current process]"}': #{handle}" if String === handle
      @handle, @name = handle, name
    end

    # The text of the last error of the system's loader.
    def last_error = Native.error

    # The address of a function or a variable as Symbol, a kind of pointer; nil if the library has none of the name.
    def find_symbol(name)
      address = Native.symbol(@handle, name.to_s)
      address && Symbol.__of(self, name.to_s, address)
    end
    alias find_function find_symbol
    alias find_variable find_symbol
  end
  NativeLibrary = DynamicLibrary

  module Native
    # A function pointer that calls Ruby.
    class Closure
      def initialize(type, callable)
        @type, @callable = type, callable
        __prepare(type.__interface)
        self.class.listen
      end

      def __called(args)
        types = @type.__parameters
        args.each_with_index { |raw, i| args[i] = types[i].__from_raw(raw) }
        result = @callable.call(*args)
        result.nil? ? nil : @type.return_type.__answer(result)
      end

      # Callbacks from native threads that foreign code has started are answered by threads of ours.
      def self.listen
        return if @listener&.alive?
        @listener = Thread.new do
          Thread.current.name = "FFI Callback Dispatcher"
          Thread.current.thread_variable_set(:fork_safe, true)
          Thread.current.report_on_exception = false
          loop do
            question = Native.question
            Thread.new do
              Thread.current.name = "FFI Callback Runner"
              Thread.current.report_on_exception = false
              Native.answer(question)
            end
          end
        end
      end

      # A fork has no other threads.
      def self.forked
        @listener = nil
        listen
      end
    end
  end

  class Function < Pointer
    def self.__new(type, target) = allocate.tap { |f| f.__send__(:__function, type, target) }

    # One closure for each type that a Proc is used as.
    def self.__for_proc(type, callable)
      return __new(type, callable) if callable.frozen?
      first = callable.instance_variable_get(:@__ffi_callback__)
      return callable.instance_variable_set(:@__ffi_callback__, __new(type, callable)) unless first
      return first if first.__send__(:type).equal?(type)
      table = callable.instance_variable_get(:@__ffi_callback_table__)
      table ||= callable.instance_variable_set(:@__ffi_callback_table__, {}.compare_by_identity)
      table[type] ||= __new(type, callable)
    end

    # A function of C at an address, or a callback that C may call: `target` is a pointer, anything that has `call`, or the block. Types may be given by name.
    #
    #     FFI::Function.new(:int, [:int]) { |n| n * 2 }.call(21)   #=> 42
    def initialize(result, parameters, target = (none = true; nil), options = nil, &block)
      if block
        raise ArgumentError, "cannot create function with both proc/address and block" unless options.nil?
        options, target = target, block
      end
      __function(FunctionType.new(result, parameters, options), target)
    end

    def initialize_copy(_) = raise(RuntimeError, "cannot duplicate function instances")
    # Calls the function with as many arguments as it has parameters; a block is taken for a callback that is missing. ArgumentError for other numbers.
    def call(*args, &block) = @type.__invoke(self, args, block)

    # Defines a method `name` that calls the function, in the module and as the module's own function.
    def attach(mod, name)
      raise RuntimeError, "trying to attach function to non-module" unless Module === mod
      type, function = @type, self
      body = ->(*args, &block) { type.__invoke(function, args, block) }
      mod.define_singleton_method(name, &body)
      mod.define_method(name, &body)
      self
    end

    # Frees a callback: C code must not call it any more. RuntimeError if the function is none that was made from Ruby.
    def free
      raise RuntimeError, "cannot free function which was not allocated" unless @closure&.free
      self
    end

    # Notes whether the callback may be freed once nothing refers to it.
    def autorelease=(on)
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      @autorelease = on ? true : false
    end

    # Whether the callback may be freed once nothing refers to it.
    def autorelease = @autorelease
    alias autorelease? autorelease

    private def type = @type

    private def __function(type, target)
      @type = type
      @autorelease = true
      case target
      when Pointer
        __part(target, 0, target.__send__(:__size))
        @target = target
      else
        raise TypeError, "wrong argument type #{target.class}, expected pointer or proc" unless target.respond_to?(:call)
        @closure = Native::Closure.new(type, target)
        __at(@closure.address, 64, 1)
        self.__send__(:__flags=, 11)
      end
    end
  end

  class VariadicInvoker
    # The type of what the function gives.
    attr_reader :return_type

    # A function whose last parameters vary in number and type. Options: `enums:`, `blocking:`, `type_map:`.
    def initialize(function, parameters, result, options)
      raise TypeError, "wrong argument type #{options.class} (expected Hash)" unless Hash === options
      @function = function
      @enums = options[:enums]
      @mode = options[:blocking] ? 1 : 0
      @return_type = Type.__of(result, "return")
      @fixed = parameters.select { |t| Type.__of(t, "parameter") != Type::VARARGS }.freeze
      @type_map = options[:type_map]
    end

    # C widens what is passed beyond the fixed parameters.
    def invoke(types, values, &block)
      fixed = @fixed.size
      raw = []
      specs = types.each_with_index.map do |type, i|
        raise TypeError, "wrong type.  Expected (FFI::Type)" unless Type === type
        value = values[i]
        value = block if value.nil? && block && type.__callback?
        raw << type.__to_raw(value, @enums)
        spec = type.__spec
        next spec if i < fixed
        case spec
        when 1..4, 14
          raw[-1] = raw[-1] ? 1 : 0 if spec == 14
          spec.odd? ? 5 : (spec == 14 ? 5 : 6)
        when 9 then 10
        else spec
        end
      end
      @return_type.__from_raw(Native.call(Native.interface(@return_type.__spec, specs, fixed), @function, raw, @mode))
    end
  end

  module LastError
    module_function

    # C's `errno` after the last foreign call of the thread.
    def error = Native.errno
    # Sets C's `errno`.
    def error=(number)
      Native.errno = number
    end
  end

  module Platform
    BYTE_ORDER = [1].pack("S") == "\1\0".b ? 1234 : 4321
    LITTLE_ENDIAN = 1234
    BIG_ENDIAN = 4321
    GNU_LIBC = "libc.so.6"
    { INT8: 1, INT16: 2, INT32: 4, INT64: 8, LONG: 8, FLOAT: 4, DOUBLE: 8, LONG_DOUBLE: 16, ADDRESS: 8 }.each do |name, size|
      const_set("#{name}_SIZE", size * 8)
      const_set("#{name}_ALIGN", size * 8)
    end
  end
end
