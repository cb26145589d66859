# ffi's structures: layouts, fields, arrays inside of structures.
module FFI
  # The fields of a structure and where they stand.
  class StructLayout < Type
    class Field
      # `name`: The field's name, a Symbol.
      # `offset`: The byte at which the field begins, from the start of the structure.
      # `type`: The field's FFI::Type.
      attr_reader :name, :offset, :type

      # A field; `name` is a Symbol or a String, `offset` counts bytes. TypeError for anything else.
      def initialize(name, offset, type)
        raise TypeError, "wrong argument type #{name.class} (expected Symbol/String)" unless ::Symbol === name || ::String === name
        raise TypeError, "wrong argument type #{offset.class} (expected Integer)" unless Integer === offset
        raise TypeError, "wrong argument type #{type.class} (expected FFI::Type)" unless Type === type
        @name, @offset, @type = name.to_sym, offset, type
        @reference = type.__spec == 12 || type.__callback? || (respond_to?(:reference_required?) && reference_required?) ||
          (type.respond_to?(:reference_required?) && type.reference_required?) ? true : false
        freeze
      end

      # Bytes that the field takes.
      def size = @type.size
      # Bytes that the field's place has to be a multiple of.
      def alignment = @type.alignment
      def __reference? = @reference
      def __spec = @type.__spec

      # Reads the field in the structure at `pointer`; ArgumentError for types that can't be read alone.
      def get(pointer)
        raise ArgumentError, "get not supported for #{@type.class}" unless @type.__accessible?
        @type.__get(pointer, @offset)
      end

      # Writes the field in the structure at `pointer`, and answers the field.
      def put(pointer, value)
        raise ArgumentError, "put not supported for #{@type.class}" unless @type.__accessible?
        @type.__put(pointer, @offset, value)
        self
      end
    end

    Number = Class.new(Field)
    String = Class.new(Field)
    Pointer = Class.new(Field)

    class Function < Field
      # The function pointer in the field, as FFI::Function.
      def get(pointer) = FFI::Function.__new(type, pointer.get_pointer(offset))

      # Writes a function: nil, an FFI::Function, or anything that has `call`, of which a callback is made.
      def put(pointer, value)
        case value
        when nil, FFI::Function then pointer.put_pointer(offset, value)
        else
          raise TypeError, "wrong type (expected Proc or Function)" unless value.respond_to?(:call)
          pointer.put_pointer(offset, FFI::Function.__for_proc(type, value))
        end
        self
      end
    end

    class Array < Field
      # The array inside of the structure: an InlineArray, of characters a CharArray.
      def get(pointer) = (__characters? ? CharArray : FFI::Struct::InlineArray).new(pointer, self)

      # Writes a String into an array of characters; IndexError if it is longer. NotImplementedError for other arrays.
      def put(pointer, value)
        raise NotImplementedError, "cannot set array field" unless __characters? && ::String === value
        room = type.length
        if value.bytesize < room
          pointer.put_string(offset, value)
        elsif value.bytesize == room
          pointer.put_bytes(offset, value)
        else
          raise IndexError, "String is longer (#{value.bytesize} bytes) than the char array (#{room} bytes)"
        end
        value
      end

      def __characters? = [Type::INT8, Type::UINT8].include?(type.elem_type)
    end

    # A layout of fields; the size is rounded up to a multiple of the alignment (bytes). RuntimeError if it is 0.
    def initialize(fields, size, alignment)
      @alignment = alignment
      @size = (size + alignment - 1) / alignment * alignment
      @map = {}
      fields.each_with_index do |field, i|
        raise TypeError, "wrong type for field #{i}." unless Field === field
        raise TypeError, "type of field #{i} has zero size" if field.size == 0 && i < fields.size - 1
        @map[field.name] = field
      end
      raise RuntimeError, "Struct size is zero" if @size == 0
      @fields = fields.dup.freeze
      @members = fields.map(&:name).freeze
      @shape = __deep([@size, @alignment, *fields.filter_map { |f| f.__spec if f.size > 0 }])
      @map.freeze
      freeze
    end

    # The field of this name, a Symbol, or nil.
    def [](name) = @map[name]
    # The fields in their order.
    def fields = @fields.dup
    alias to_a fields
    # The names of the fields in their order.
    def members = @members.dup
    def __field(name) = @map[name] || raise(ArgumentError, "No such field '#{name}'")
    def __spec = UNIONS[self] || @shape

    # What unions are passed as.
    UNIONS = ObjectSpace::WeakKeyMap.new
    private_constant :UNIONS

    private def __deep(spec) = spec.each { |s| __deep(s) if ::Array === s }.freeze

    # A union goes where its fields would all go: floating point registers if they are all of that kind, else those of integers.
    def __union!
      leaves = []
      walk = ->(spec) { ::Array === spec ? spec.drop(2).each(&walk) : leaves << spec }
      walk.(__spec)
      floating = leaves.all? { |l| l.between?(9, 11) }
      filler =
        if floating && leaves.uniq.size == 1 then leaves[0]
        elsif floating && RbConfig::CONFIG["host_cpu"] == "x86_64" then { 4 => 9, 8 => 10, 16 => 11 }[@alignment]
        end
      filler ||= { 1 => 1, 2 => 3, 4 => 5, 8 => 7 }[@alignment] or raise RuntimeError, "cannot create libffi union representation for alignment #{@alignment}"
      width = { 1 => 1, 3 => 2, 5 => 4, 7 => 8, 9 => 4, 10 => 8, 11 => 16 }.fetch(filler, 8)
      UNIONS[self] = [@size, @alignment, *::Array.new(@size / width, filler)]
      self
    end
  end

  class Struct
    class << self
      alias alloc_in new
      alias alloc_out new
      alias alloc_inout new
      alias new_in new
      alias new_out new
      alias new_inout new
    end

    # `pointer`: The memory that the structure lies in.
    # `layout`: The StructLayout that tells where each field is.
    attr_reader :pointer, :layout

    # A structure at `pointer`, without one in new memory of its size, which is zeroed. More arguments are a layout, as `layout` of the class takes it.
    #
    #     Point = Class.new(FFI::Struct) { layout :x, :int, :y, :int }
    #     Point.new.tap { |p| p[:y] = 5 }[:y]   #=> 5
    def initialize(pointer = nil, *layout)
      @layout = layout.empty? ? self.class.__send__(:__layout) : self.class.layout(*layout)
      raise RuntimeError, "Invalid Struct layout" unless StructLayout === @layout
      unless pointer.nil? || AbstractMemory === pointer
        raise TypeError, "wrong argument type #{pointer.class} (expected Pointer or Buffer)" unless pointer.respond_to?(:to_ptr)
        pointer = pointer.to_ptr
      end
      @pointer = pointer || MemoryPointer.new(@layout.size, 1, true)
    end

    def initialize_copy(other)
      @layout = other.layout
      from = other.pointer
      unless from.null?
        @pointer = MemoryPointer.new(1, @layout.size, false)
        @pointer.__copy_from__(from, @layout.size)
      end
      @references = @references&.dup
      self
    end

    # Reads the field of this name; ArgumentError if there is none.
    def [](name)
      __ready
      @layout.__field(name).get(@pointer)
    end

    # Writes the field of this name; an object that the field points to is kept as long as the structure.
    def []=(name, value)
      raise FrozenError.new("can't modify frozen #{self.class}", receiver: self) if frozen?
      __ready
      field = @layout.__field(name)
      field.put(@pointer, value)
      (@references ||= {})[name] = value if field.__reference?
      value
    end

    # Whether the structure lies at address 0.
    def null? = @pointer.null?

    # The byte order, `:little` or `:big`; with a name (`:network` is `:big`, too), the same memory as a structure that is read in that order.
    def order(*name)
      return @pointer.order if name.empty?
      copy = dup
      copy.__send__(:pointer=, @pointer.order(*name))
      copy
    end

    private def pointer=(pointer)
      raise FrozenError.new("can't modify frozen #{self.class}", receiver: self) if frozen?
      raise TypeError, "wrong argument type #{pointer.class} (expected Pointer or Buffer)" unless AbstractMemory === pointer
      @layout ||= self.class.__send__(:__layout)
      if @layout.size > pointer.size
        raise ArgumentError, "memory of #{pointer.size} bytes too small for struct #{self.class} (expected at least #{@layout.size})"
      end
      @pointer = pointer
    end

    private def layout=(layout)
      raise FrozenError.new("can't modify frozen #{self.class}", receiver: self) if frozen?
      raise TypeError, "wrong argument type #{layout.class} (expected FFI::StructLayout)" unless StructLayout === layout
      @layout = layout
    end

    # A subclass may have left `initialize` out.
    private def __ready
      return if @pointer
      @layout ||= self.class.__send__(:__layout)
      @pointer = MemoryPointer.new(@layout.size, 1, true)
    end

    private_class_method def self.__layout
      raise RuntimeError, "no Struct layout configured for #{self}" unless instance_variable_defined?(:@layout)
      raise RuntimeError, "invalid Struct layout for #{self}" unless StructLayout === @layout
      @layout
    end

    # An array inside of a structure.
    class InlineArray
      include Enumerable

      # The array that `field` describes, in the structure at `memory`.
      def initialize(memory, field)
        @memory, @field = memory, field
        @type, @length = field.type.elem_type, field.type.length
      end

      # The number of elements.
      def size = @length

      # The element at `index`; IndexError outside of the array. Structures come as objects over the same memory.
      def [](index)
        at = __place(index)
        return @type.__get(@memory, at) if @type.__accessible?
        return @type.struct_class.new(@memory.slice(at, @type.size)) if StructByValue === @type
        raise ArgumentError, "get not supported for #{@type.class}"
      end

      # Writes the element at `index`; IndexError outside of the array. Of a structure its bytes are copied.
      def []=(index, value)
        raise FrozenError.new("can't modify frozen #{self.class}", receiver: self) if frozen?
        at = __place(index)
        if @type.__accessible?
          @type.__put(@memory, at, value)
        elsif StructByValue === @type
          raise TypeError, "argument not an instance of struct" unless Struct === value
          @memory.put_bytes(at, value.pointer.get_bytes(0, @type.size))
        else
          raise ArgumentError, "set not supported for #{@type.class}"
        end
        value
      end

      # Yields each element; without a block an Enumerator.
      def each
        return to_enum(:each) { @length } unless block_given?
        @length.times { |i| yield self[i] }
        self
      end

      # The elements as Array.
      def to_a = ::Array.new(@length) { |i| self[i] }
      # The part of the memory that the array is in, as FFI::Pointer or FFI::Buffer.
      def to_ptr = @memory.slice(@field.offset, @field.type.size)

      private def __place(index)
        raise IndexError, "index #{index} out of bounds" if index < 0 || (index >= @length && @length > 0)
        @field.offset + index * @type.size
      end
    end
  end

  class StructLayout::CharArray < Struct::InlineArray
    # The characters before the first NUL, at most all of them.
    def to_s = @memory.get_string(@field.offset, @length)
    alias to_str to_s
  end
end
