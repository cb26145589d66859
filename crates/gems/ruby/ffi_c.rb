# ffi's `ffi_c`: the classes that its Ruby files expect from an extension, over FFI::Native (crates/gems/src/foreign).
# A type knows what number or structure stands for it (`__spec`), how an argument becomes what the natives take (`__to_raw`), and a result what Ruby sees (`__from_raw`).
module FFI
  private_constant :Native
  NullPointerError = Class.new(RuntimeError)
  NativeType = Module.new
  TypeDefs = {}

  # The program's own types. Each VM has its own.
  def self.custom_typedefs = @custom_typedefs ||= {}
  def self._async_cb_dispatcher_atfork_child = Native::Closure.forked

  class Type
    attr_reader :size, :alignment, :__spec

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
      attr_reader :converter, :native_type
      alias type native_type

      def initialize(converter)
        %i[native_type to_native from_native].each do |name|
          raise NoMethodError, "#{name} method not implemented" unless converter.respond_to?(name)
        end
        native = converter.native_type
        raise TypeError, "native_type did not return instance of FFI::Type" unless Type === native
        @converter, @native_type = converter, native
        freeze
      end

      def size = @native_type.size
      def alignment = @native_type.alignment
      def __spec = @native_type.__spec
      def to_native(*args) = @converter.to_native(*args)
      def from_native(*args) = @converter.from_native(*args)
      def __callback? = @native_type.__callback?
      def __to_raw(value, enums) = @native_type.__to_raw(@converter.to_native(value, nil), enums)
      def __from_raw(raw) = @converter.from_native(@native_type.__from_raw(raw), nil)
      def __answer(value) = @native_type.__answer(@converter.to_native(value, nil))
      def __accessible? = @native_type.__accessible?
      def __get(memory, at) = @converter.from_native(@native_type.__get(memory, at), nil)
      def __put(memory, at, value) = @native_type.__put(memory, at, @converter.to_native(value, nil))
      def reference_required? = @converter.respond_to?(:reference_required?) && @converter.reference_required?
    end
  end

  class ArrayType < Type
    attr_reader :length, :elem_type

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
    attr_reader :struct_class, :layout

    def initialize(struct_class)
      layout = struct_class.instance_variable_get(:@layout)
      raise TypeError, "wrong type in @layout ivar (expected FFI::StructLayout)" unless StructLayout === layout
      @struct_class, @layout = struct_class, layout
      freeze
    end

    def size = @layout.size
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
    attr_reader :return_type, :__blocking

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

    def size = 8
    def alignment = 8
    def __spec = 12
    def __interface = @interface
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

    def size = __size || 0x7fff_ffff_ffff_ffff
    alias total size
    def clear = __clear(size)
    def get_string(at, most = nil) = __text(at, most)
    def read_array_of_string(count = nil) = get_array_of_string(0, count)
    def get_bytes(at, count) = __bytes(at, count)
    def read_bytes(count) = __bytes(0, count)
    def write_bytes(...) = put_bytes(0, ...)
    def null? = __address == 0

    def put_string(at, string)
      raise TypeError, "wrong argument type #{string.class} (expected String)" unless String === string
      __set_bytes(at, string + "\0", 0, string.bytesize + 1)
    end

    def put_bytes(at, string, from = 0, count = nil)
      raise TypeError, "wrong argument type #{string.class} (expected String)" unless String === string
      raise RangeError, "index cannot be less than zero" if from < 0
      __set_bytes(at, string, from, count || string.bytesize - from)
    end

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

    def get(type, at)
      found = Type.__find(type)
      raise ArgumentError, "undefined type '#{type}'" unless found && found.__accessible?
      found.__get(self, at)
    end

    def put(type, at, value)
      found = Type.__find(type)
      raise ArgumentError, "unsupported type '#{type}'" unless found && found.__accessible?
      found.__put(self, at, value)
      nil
    end

    def [](index) = self + index * type_size

    def __copy_from__(other, count)
      Native.copy(self, other, count)
      self
    end

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
    def self.size = 8

    # The pointer to an address; the same object for NULL.
    def self.__at(address)
      return NULL if address == 0
      pointer = Pointer.allocate
      pointer.__send__(:__at, address, nil, 1)
      pointer
    end

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

    def address = __address
    alias to_i address
    def to_ptr = self

    def inspect
      size = __size
      "#<#{self.class} address=#{address == 0 ? "(nil)" : "0x%x" % address}#{" size=#{size}" if size}>"
    end
    alias to_s inspect

    def ==(other)
      return address == 0 if other.nil?
      Pointer === other && other.address == address
    end

    def +(offset)
      size = __size
      __slice(offset, size && size - offset)
    end

    def slice(offset, length) = __slice(offset, length)

    def free
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      warn "calling free on non allocated pointer #{inspect} from #{caller.first}" unless __free
      self
    end

    def autorelease=(on)
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      __release if !on
      @autorelease = on ? true : false
    end

    def autorelease? = defined?(@autorelease) ? @autorelease : __allocated?

    private def __slice(offset, length) = __part_as(Pointer, offset, length)

    null = allocate
    null.__send__(:__at, 0, nil, 1)
    null.__send__(:__flags=, 0)
    NULL = null
  end

  class MemoryPointer < Pointer
    def self.from_string(text)
      text = String.try_convert(text) or raise TypeError, "no implicit conversion of #{text.class} into String"
      new(1, text.bytesize + 1, false).put_string(0, text)
    end

    def initialize(type, count = 1, _clear = true)
      __allocate(Type.__size(type), count)
      return unless block_given?
      begin
        yield self
      ensure
        free
      end
    end

    def free
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      __free
      self
    end
  end

  # Memory without an address of its own to tell.
  class Buffer < AbstractMemory
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
      def alloc_inout(type, count = 1, clear = true, &block) = new(type, count, clear, &block)
      alias alloc_in alloc_inout
      alias alloc_out alloc_inout
      alias new_in alloc_inout
      alias new_out alloc_inout
      alias new_inout alloc_inout
    end

    def initialize_copy(other) = __copy_of(other, other.size)

    def length = size
    def inspect = "#<#{self.class}:0x#{"%x" % __id__} address=0x#{"%x" % __address} size=#{size}>"
    def +(offset) = __slice(offset, size - offset)
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

      def inspect = "#<FFI::DynamicLibrary::Symbol name=#{@name} address=0x#{"%x" % address}>"
    end

    attr_reader :name

    def self.open(name, flags) = new(name, flags)
    def self.last_error = Native.error

    def initialize(name, flags)
      handle = Native.open(name, flags & 0xffff | ((flags & 3) == 0 ? RTLD_LAZY : 0))
      raise LoadError, "Could not open library '#{name || "[current process]"}': #{handle}" if String === handle
      @handle, @name = handle, name
    end

    def last_error = Native.error

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

    def initialize(result, parameters, target = (none = true; nil), options = nil, &block)
      if block
        raise ArgumentError, "cannot create function with both proc/address and block" unless options.nil?
        options, target = target, block
      end
      __function(FunctionType.new(result, parameters, options), target)
    end

    def initialize_copy(_) = raise(RuntimeError, "cannot duplicate function instances")
    def call(*args, &block) = @type.__invoke(self, args, block)

    def attach(mod, name)
      raise RuntimeError, "trying to attach function to non-module" unless Module === mod
      type, function = @type, self
      body = ->(*args, &block) { type.__invoke(function, args, block) }
      mod.define_singleton_method(name, &body)
      mod.define_method(name, &body)
      self
    end

    def free
      raise RuntimeError, "cannot free function which was not allocated" unless @closure&.free
      self
    end

    def autorelease=(on)
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      @autorelease = on ? true : false
    end

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
    attr_reader :return_type

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

    def error = Native.errno
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
