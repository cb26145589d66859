# objspace: counts, references, dumps and origins of objects, over what the heap tells.
module ObjectSpace
  # A cell that the runtime uses and programs don't see: an environment, a method's entry.
  class InternalObjectWrapper
    # `type`: The kind of cell, a Symbol.
    # `internal_object_id`: The address of the cell.
    attr_reader :type, :internal_object_id

    # A cell of a kind, at an address.
    def initialize(type, address)
      @type, @internal_object_id = type, address
    end

    # The address and the kind.
    def inspect = "#<InternalObject:0x#{@internal_object_id.to_s(16).rjust(16, "0")} #{@type}>"
    # Whether both stand for the same cell.
    def ==(other) = other.is_a?(InternalObjectWrapper) && internal_object_id == other.internal_object_id
    alias eql? ==
    # The same for the same cell.
    def hash = @internal_object_id.hash
  end

  # What CRuby does without a frame: what it makes is made by who calls it.
  INSTRUCTIONS = {
    Class => %i[new], String => %i[+ << succ], Array => %i[+ << []], Hash => %i[[]], Integer => %i[+ - * / % & | << >> succ], Float => %i[+ - * / %]
  }.compare_by_identity.freeze
  private_constant :INSTRUCTIONS

  # Held while all objects are listed.
  DUMPING = Mutex.new
  private_constant :DUMPING

  class << self
    # The bytes of all objects, or of those of a class.
    def memsize_of_all(type = (all = true))
      return __sizes.sum { |_, bytes,| bytes } if all
      raise TypeError, "class or module required" unless type.is_a?(Module)
      sum = 0
      each_object(type) { |object| sum += memsize_of(object) }
      sum
    end

    private def __into(hash)
      return hash if hash.is_a?(Hash)
      hash.nil? ? {} : raise(TypeError, "non-hash given")
    end

    # Bytes by kind.
    def count_objects_size(hash = nil)
      hash = __into(hash)
      hash.transform_values! { 0 }
      total = 0
      __sizes.each do |kind, bytes,|
        total += bytes
        name = :"T_#{kind}"
        hash[name] = hash.fetch(name, 0) + bytes
      end
      hash[:TOTAL] = total
      hash
    end

    # Objects with a payload by its name.
    def count_tdata_objects(hash = nil)
      hash = __into(hash)
      hash.transform_values! { 0 }
      __sizes("DATA").each { |_, _, n, name| hash[name.to_sym] = hash.fetch(name.to_sym, 0) + n }
      hash
    end

    # The number of the runtime's own cells by kind.
    def count_imemo_objects(hash = nil)
      hash = __into(hash)
      hash.transform_values! { 0 }
      __sizes("IMEMO").each { |_, _, n, name| hash[name.to_sym] = hash.fetch(name.to_sym, 0) + n }
      hash[:imemo_cref] ||= 0
      hash
    end

    # Symbols are numbers here: none is collected.
    def count_symbols(hash = nil)
      hash = __into(hash)
      n = Symbol.all_symbols.size
      hash.update(mortal_dynamic_symbol: 0, immortal_dynamic_symbol: 0, immortal_static_symbol: n, immortal_symbol: n)
    end

    # No object has nodes of a syntax tree in its heap.
    def count_nodes(hash = nil) = __into(hash).tap { |h| h.transform_values! { 0 } }

    # The objects that an object refers to, its class first; nil for what is no cell, like small Integers.
    def reachable_objects_from(object)
      found =
        if InternalObjectWrapper === object then __references_at(object.internal_object_id, InternalObjectWrapper) || []
        else
          return if __address_of(object).nil?
          __references(object, InternalObjectWrapper).unshift(internal_class_of(object))
        end
      seen = {}.compare_by_identity
      found.filter_map do |one|
        key = InternalObjectWrapper === one ? one.internal_object_id : one
        next if seen.key?(key)
        seen[key] = true
        one
      end
    end

    # What a program starts from; threads' stacks are left out.
    def reachable_objects_from_root
      {
        "vm" => [TOPLEVEL_BINDING.receiver, Object],
        "global_tbl" => (global_variables - %i[$= $, $; $/ $\\ $~ $_ $-0 $-K $FILENAME]).grep(/\A\$[a-zA-Z"]/).filter_map { |name| value = eval(name.to_s); value if __address_of(value) },
        "machine_context" => Thread.list
      }.reject { |_, list| list.empty? }
    end

    # The class of an object; nil for the runtime's own cells.
    def internal_class_of(object) = InternalObjectWrapper === object ? nil : ::Kernel.instance_method(:class).bind_call(object)
    # The superclass, or nil; ArgumentError for what is no class or module.
    def internal_super_of(object)
      raise ArgumentError, "class or module is expected" unless Module === object
      Class === object ? object.superclass : nil
    end

    # Notes where objects are made while the block runs.
    def trace_object_allocations
      raise LocalJumpError, "no block given" unless block_given?
      trace_object_allocations_start
      yield
    ensure
      trace_object_allocations_stop
    end

    # A VM that was made while another one traced has its count, and a trace that is none.
    private def __tracing?
      @trace&.enabled?
    rescue TypeError
      false
    end

    # Notes where objects are made from here on; as often as it is called, `trace_object_allocations_stop` has to be.
    def trace_object_allocations_start
      @tracers = 0 unless __tracing?
      @tracers += 1
      return if @tracers > 1
      __note_allocations(true)
      @trace = TracePoint.new(:__literal, :line, :call, :return, :b_call, :b_return, :c_call, :c_return, :class, :end) do |tp|
        __origins
        if %i[return b_return c_return end].include?(tp.event)
          # What follows is made by whoever called: the frame above the one that ends; a builtin's is gone already. This block's does not count, as it is the library's.
          __at(caller_locations(tp.event == :c_return ? 0 : 1, 1)&.first)
        elsif tp.event.equal?(:__literal) || tp.event.equal?(:c_call) && INSTRUCTIONS[tp.defined_class]&.include?(tp.method_id)
          # In another line of the same method.
          __in_line(tp.lineno)
        else
          owner = tp.defined_class
          owner = nil if Class === owner && owner.singleton_class?
          __here(tp.path, tp.lineno, Module === owner ? Module.instance_method(:name).bind_call(owner) : nil, tp.method_id&.name)
        end
      end
      @trace.enable
      __at(caller_locations(1, 1)&.first)
      nil
    end

    # Where a call of the program stands.
    private def __at(place)
      return __here(nil, nil, nil, nil) unless place
      owner = place.label[/(?:\A|in )([^ ]+)#[^#.]+\z/, 1]
      method = place.base_label
      __here(place.path, place.lineno, owner, method.start_with?("<") || method.to_sym.equal?(:trace_object_allocations) ? nil : method)
    end

    # Ends noting where objects are made.
    def trace_object_allocations_stop
      return unless __tracing?
      @tracers -= 1
      return if @tracers > 0
      @trace.disable
      __origins
      __note_allocations(false)
      @trace = nil
    end

    # Forgets where objects were made.
    def trace_object_allocations_clear
      __forget_allocations
      nil
    end

    # The next object of a kind that somebody looks at tells where it comes from.
    def trace_object_allocations_debug_start = trace_object_allocations_start

    # The file in which an object was made, or nil if that was not noted.
    def allocation_sourcefile(object) = __origin(object)&.[](0)
    # The line in which an object was made, or nil if that was not noted.
    def allocation_sourceline(object) = __origin(object)&.[](1)
    # The class whose method made an object, or nil if that was not noted.
    def allocation_class_path(object) = __origin(object)&.[](2)
    # The method that made an object, or nil if that was not noted.
    def allocation_method_id(object) = __origin(object)&.[](3)&.to_sym
    # The number of the collection before which an object was made, or nil if that was not noted.
    def allocation_generation(object) = __origin(object)&.[](4)

    # What is known of an object, as JSON: a String, or written to an IO (`:stdout`, `:file`).
    def dump(object, output: :string) = __output(output) { |io| io << __dump(object) << (__address_of(object) ? "\n" : "") }

    # What is known of all objects, a line of JSON for each, in a new file unless `output:` says otherwise; `since:` leaves out those made before a collection, `full: true` adds free cells,
    # `shapes:` false leaves out the layouts of objects, a number those before it. Without `since:` it is closed: each address in it has a line, what VMs share among them. What is made meanwhile is not in it.
    def dump_all(output: :file, full: false, since: nil, shapes: true)
      raise TypeError, "no implicit conversion of #{since.class} into Integer" unless since.nil? || Integer === since
      # Two at once would have each other's lists.
      return DUMPING.synchronize { dump_all(output:, full:, since:, shapes:) } unless DUMPING.owned?
      __output(output) do |io|
        now = GC.count
        objects = each_object.to_a
        roots, cells, known = {}, [], nil
        unless since
          roots = reachable_objects_from_root
          roots.each_value { |list| objects.concat(list) }
          objects, cells = __reached(objects)
          known = {}
          __know(known, objects)
          cells.each { |cell| known[cell[1]] = true }
        end
        roots.each { |name, list| io << "{\"type\":\"ROOT\", \"root\":\"#{name}\", \"references\":[#{__addresses(list, known)}]}\n" }
        io << __shape_lines(shapes == true ? 0 : shapes) if shapes
        objects.each do |object|
          next if since && (!(origin = __origin(object)) || origin[4] < since || origin[4] > now)
          io << __dump(object, known) << "\n"
        end
        io << __free_lines if full && !since
        cells.each do |type, address, bytes, cell, references|
          io << "{\"address\":\"0x#{address.to_s(16)}\", \"type\":\"IMEMO\", \"slot_size\":#{cell}, \"imemo_type\":\"#{type.delete_prefix("imemo_")}\""
          io << ", \"references\":[#{references.map { |one| "\"0x#{one.to_s(16)}\"" }.join(", ")}]" unless references.empty?
          io << ", \"memsize\":#{bytes}, \"flags\":{\"wb_protected\":true}}\n"
        end
      ensure
        # All objects, those of a dump before among them: nothing may keep these lists, or the next one is of them, too.
        [objects, cells, known, *roots&.values].each { |list| list&.clear }
      end
    end

    # The layouts of objects (which variables in which order), a line of JSON for each, from the one with number `since:` on (`RubyVM.stat(:next_shape_id)`).
    def dump_shapes(output: :file, since: 0) = __output(output) { |io| io << __shape_lines(since) }

    private

    def __output(output)
      if output.equal?(:string)
        text = +""
        yield text
        text
      elsif output.equal?(:stdout)
        yield $stdout
        nil
      elsif output.nil? || output.equal?(:file)
        # The caller removes it.
        require "tmpdir"
        file = File.new(File.join(Dir.tmpdir, "rubyheap#{Process.pid}-#{rand(1 << 40).to_s(36)}"), File::RDWR | File::CREAT | File::EXCL, 0o600)
        yield file
        file.flush
        file
      elsif IO === output
        yield output
        output
      else
        raise ArgumentError, "wrong output option: #{output.inspect}" unless output.respond_to?(:to_io)
        yield output.to_io
        output
      end
    end

    def __float(float) = float.nan? ? "NaN" : float.infinite? ? (float > 0 ? "Inf" : "-Inf") : format("%#g", float)

    def __address(object)
      return "\"0x#{object.internal_object_id.to_s(16)}\"" if InternalObjectWrapper === object
      at = __address_of(object)
      at && "\"0x#{at.to_s(16)}\""
    end

    # Of objects that are known, if that is said.
    def __addresses(list, known)
      list.filter_map do |one|
        at = InternalObjectWrapper === one ? one.internal_object_id : __address_of(one)
        "\"0x#{at.to_s(16)}\"" if at && (known.nil? || known.key?(at))
      end.join(", ")
    end

    def __text(string) = __quoted(string.encode("UTF-8", invalid: :replace, undef: :replace))

    def __dump(object, known = nil)
      return "null" if nil.equal?(object)
      case object
      when TrueClass, FalseClass then return object.to_s
      when Symbol then return "{\"type\":\"SYMBOL\", \"value\":#{__text(object.name)}}"
      when Integer then return object.to_s unless __address_of(object)
      when Float
        unless __address_of(object)
          return object.finite? ? __float(object) : "{\"type\":\"FLOAT\", \"value\":\"#{__float(object)}\"}"
        end
      when InternalObjectWrapper then return "{\"address\":#{__address(object)}, \"type\":\"IMEMO\", \"imemo_type\":\"#{object.type.to_s.delete_prefix("imemo_")}\"}"
      end
      __line(object, known)
    end

    def __float_value(object) = ["\"value\":\"#{__float(object)}\""]

    def __hash_table(object)
      default = Hash.instance_method(:default_proc).bind_call(object)
      ["\"size\":#{Hash.instance_method(:size).bind_call(object)}", *("\"default\":#{__address(default)}" if default)]
    end

    def __module(object)
      name = Module.instance_method(:name).bind_call(object)
      name ? ["\"name\":#{__text(name)}"] : []
    end

    def __class(object)
      fields = __module(object)
      fields << "\"singleton\":true" << "\"real_class_name\":#{__text(object.attached_object.class.name.to_s)}" if object.singleton_class?
      fields << "\"superclass\":#{__address(object.superclass)}" if object.superclass
      fields
    end

    def __file(object)
      ["\"fd\":#{IO.instance_method(:fileno).bind_call(object)}"]
    rescue IOError
      []
    end
  end
end
