# How a message looks on its way through a server (docs/cluster.md): what Marshal writes, with a few bytes before it, and blocks as their text.
module RubyVM::Cluster
  # A block on its way: its text, the variables that it names, where it stood.
  Block = Struct.new(:text, :file, :line, :frozen, :lambda, :nesting, :locals, :receiver, :main) # :nodoc:

  module Wire # :nodoc:
    # Of version 1; a letter more says whether a signature of 32 bytes follows.
    MARK = "zk1".b
    FORMS = %i[envelope marshal bytes].freeze
    # What Marshal says of them.
    SECRET = /no _dump_data is defined for class RubyVM::Cluster::Secret/

    class << self
      # `form`: how others read it. :envelope: as told here; :marshal: what Marshal writes and nothing else; :bytes: a String as it is.
      def pack(object, form, key = nil)
        head, content = in_two(object, form, key)
        head ? head << content : content
      end

      # The same, with what comes before the content (nil: nothing) for itself: whoever sends much does not put them together.
      def in_two(object, form, key = nil)
        case form
        when :bytes
          raise TypeError, "form: :bytes sends Strings, not #{object.class}" unless String === object
          return nil, object.b
        when :marshal then return nil, dump(object)
        end
        content = dump(Proc === object ? block(object) : object)
        head = String.new(MARK)
        key ? head << "s" << sign(content, key) : head << "p"
        [head, content]
      end

      def open(bytes, form, key = nil)
        return bytes if form == :bytes
        return Marshal.load(bytes) if form == :marshal
        raise TypeError, "not a message of a channel (form: :marshal or :bytes reads others)" unless bytes.start_with?(MARK)
        signed = bytes.getbyte(3) == 115
        at = signed ? 36 : 4
        content = bytes.byteslice(at..) || ""
        if key
          raise Unsigned, "the message is not signed with this channel's key" unless signed && same?(bytes.byteslice(4, 32), sign(content, key))
        end
        raise Unsigned, "the message is signed, and this channel has no key" if signed && !key
        found = Marshal.load(content)
        Block === found ? build(found) : found
      end

      # By which two can tell whether they have the same key, which it does not tell. nil: none.
      def mark(key)
        key && sign("which key it is", key).unpack1("H*")[0, 16]
      end

      # Where the jobs of a pool are that has this mark.
      def jobs_of(address, mark) = address.with_name("#{address.name}.jobs#{".#{mark}" if mark}")

      # A block as data. TypeError when its text, or what it uses, can't travel. `made`: what there is of those that it uses, itself perhaps.
      def block(proc, made = {}.compare_by_identity)
        return made[proc] if made.key?(proc)
        parts = Native.block(proc)
        return Block.new(nil, parts) if Symbol === parts
        text, file, line, uses_self, frozen, used, called = parts
        # Those that `>>` and the like give are blocks of the core library.
        raise TypeError, "a Proc without text (of a Method, or of several) can't travel to another machine: write a block" if parts.nil? || file.start_with?("<internal:")
        raise TypeError, "a block whose text is not kept, as that of `eval` (#{file}:#{line}), can't travel to another machine: send the text, and have the job evaluate it" unless text
        scope = proc.binding
        names = scope.local_variables & used
        locals = {}
        receiver = proc.binding.receiver
        main = receiver.equal?(TOPLEVEL_BINDING.receiver)
        receiver = nil if main || !uses_self
        nesting = scope.eval("Module.nesting", __FILE__, __LINE__).map { |m| m.name or raise TypeError, "a block in an anonymous class can't travel to another machine" }
        dump(receiver, "self")
        found = made[proc] = Block.new(text, file, line, frozen, proc.lambda?, nesting, locals, receiver, main)
        names.each { |name| locals[name] = local(scope.local_variable_get(name), name, made) }
        # What it only mentions (`defined?(x)`, `x` whose value nobody asks for) is a variable there, too.
        words = text.b
        (scope.local_variables - names - called).each { |name| locals[name] = nil if words.include?(name.name.b) }
        found
      end

      # The block again, in this VM.
      def build(block, built = {}.compare_by_identity)
        return built[block] if built.key?(block)
        # `&:name`
        return block.file.to_proc unless block.text
        scope = scope_of(block)
        # Other blocks are there when this one is: they may use it.
        block.locals.each { |name, value| scope.local_variable_set(name, Block === value ? nil : value) }
        text = block.text
        text = "#{block.lambda ? "lambda" : "proc"} #{text}" unless text.start_with?("->")
        text = "# frozen_string_literal: true\n#{text}" if block.frozen
        found = built[block] = scope.eval(text, block.file, block.line - (block.frozen ? 1 : 0))
        block.locals.each { |name, value| scope.local_variable_set(name, build(value, built)) if Block === value }
        found
      end

      # What Marshal writes; TypeError with the way to what it can't.
      def dump(object, what = nil)
        Marshal.dump(object)
      rescue SystemStackError
        raise TypeError, "can't send #{what || object.class} to another machine: it is nested too deeply"
      rescue TypeError => e
        # Whoever knows the way to it.
        begin
          RubyVM::Channel.new.try_send(object)
        rescue TypeError => better
          raise TypeError, "#{what && "#{what}: "}#{better.message.sub("to another VM", "to another machine")}"
        end
        found, way, why = way_to(object, "$", e.message)
        why = way == "$" ? why : nil unless why.match?(SECRET)
        why &&= why.sub(SECRET, "the password and the key of a channel stay in this process")
        raise TypeError, "can't send #{what && way == "$" ? what : found.class} to another machine: #{what && way != "$" ? "#{what}: " : ""}#{[(way unless way == "$"), why].compact.join(": ")}"
      end

      private

      # What Marshal can't write of it, how it is reached, and what Marshal says of it.
      def way_to(object, way, why, left = 50)
        return [object, way, why] if left == 0
        parts_of(object) do |step, part|
          Marshal.dump(part)
        rescue TypeError => e
          return way_to(part, "#{way}#{step}", e.message, left - 1)
        end
        [object, way, why]
      end

      # With the steps to them; of what says itself what there is of it, none.
      def parts_of(object)
        case object
        when Array then object.each_with_index { |part, i| yield "[#{i}]", part }
        when Hash
          object.each do |key, part|
            yield ".keys[#{key.class}]", key
            yield "[#{Symbol === key || String === key || Integer === key ? key.inspect : key.class}]", part
          end
        when Struct then object.each_pair { |name, part| yield ".#{name}", part }
        end
        return if [:marshal_dump, :_dump].any? { |name| object.respond_to?(name, true) }
        object.instance_variables.each { |name| yield ".#{name}", object.instance_variable_get(name) }
      end

      def local(value, name, made)
        return block(value, made) if Proc === value
        dump(value, "the variable #{name}")
        value
      end

      # A binding of its own, in which constants are found as they were, if the modules are there.
      def scope_of(block)
        own = "-> { binding }.call"
        scope = TOPLEVEL_BINDING.eval(own, __FILE__, __LINE__)
        scope = block.nesting.reverse.inject(scope) { |outer, name| outer.eval("Object.const_get(#{name.dump}).module_eval(#{own.dump})", __FILE__, __LINE__) }
        return scope if block.main || block.receiver.nil?
        scope.local_variable_set(:__receiver, block.receiver)
        scope.eval("__receiver.instance_eval(#{own.dump})", __FILE__, __LINE__)
      end

      def sign(content, key)
        require "openssl"
        OpenSSL::HMAC.digest("SHA256", Native.reveal(key), content)
      end

      # In the same time, whatever differs.
      def same?(one, other)
        one.bytesize == other.bytesize && one.bytes.zip(other.bytes).inject(0) { |all, (a, b)| all | (a ^ b) } == 0
      end
    end
  end
  private_constant :Wire, :Block
end
