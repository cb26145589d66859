# drb+mvm://NAME: dRuby between the VMs of a process, over channels (docs/drb.md).
#
# A server is a channel on which clients ask for connections; a connection is two channels. Requests and replies are messages: what consists of numbers, Symbols, Strings, Arrays and Hashes goes as it is,
# everything else as DRbMessage dumps it, so that what is a copy and what a reference is the same as over TCP. Servers are found by name, through a Names object: whoever has it can look up and, unless
# it is for looking up alone, register. There is no table of the process.
require "drb"

module DRb
  # Where this VM finds servers of `drb+mvm://`.
  module MVM
    # Names of servers. The VM that makes one keeps the table, in a thread; the object can be sent to other VMs, and forks have it.
    class Names
      # So that nobody fills the keeper's memory.
      MOST = 10_000

      # A table of this VM.
      def initialize
        @changes, @questions = RubyVM::Channel.new, RubyVM::Channel.new
        [@changes, @questions].each { |channel| RubyVM.current.__send__(:__take_along, nil, channel) }
        changes, questions = @changes, @questions
        Thread.new { Names.__keep(changes, questions) }.name = "drb+mvm names"
      end

      # A copy that can look up, and nothing else.
      def lookup_only
        copy = dup
        copy.instance_variable_set(:@changes, nil)
        copy.freeze
      end

      # Its two channels, for a VM that is started with them before it can know this class: `DRb::MVM.names=` takes them. The first is nil when it can look up alone.
      def to_a = [@changes, @questions]

      def self.of(channels) # :nodoc:
        changes, questions = channels
        fits = channels.size == 2 && RubyVM::Channel === questions && (changes.nil? || RubyVM::Channel === changes)
        raise TypeError, "these are not the channels of a DRb::MVM::Names" unless fits
        allocate.tap do |names|
          names.instance_variable_set(:@changes, changes)
          names.instance_variable_set(:@questions, questions)
        end
      end

      # Whether servers can be registered with it.
      def register? = !@changes.nil?

      # The names that are registered.
      def list = ask(@questions, :list).sort

      def lookup(name) = ask(@questions, :lookup, name) || nil # :nodoc:

      # Enters a server; without a name, under a new one. Answers the name.
      def register(name, door) # :nodoc:
        raise RubyVM::PermissionError, "this DRb::MVM::Names can only look up" unless @changes
        entered = ask(@changes, :register, name, door) or raise Errno::EADDRINUSE, "drb+mvm://#{name}"
        raise DRbConnError, "#{MOST} names of drb+mvm:// are in use: no more are kept" if entered == :full
        entered
      end

      def remove(name, door) # :nodoc:
        @changes << [:remove, nil, name, door] if @changes
      rescue RubyVM::ClosedError
        nil
      end

      def close # :nodoc:
        @changes&.close
      end

      def self.__keep(changes, questions) # :nodoc:
        table = {}
        last = 0
        # Who ended or was closed has no name any more.
        living = ->(name) { (door = table[name]) && (door.closed? ? table.delete(name) && nil : door) }
        while true
          begin
            what, back, name, door = RubyVM.select(changes, questions)[1]
            answer = case what
                     when :lookup then living[name] || false
                     when :list then table.keys.select(&living)
                     when :register
                       name ||= "server-#{last += 1}"
                       table.keys.each(&living) if table.size >= MOST
                       if living[name] || !(String === name && RubyVM::Channel === door) then false
                       elsif table.size >= MOST then :full
                       else (table[name] = door) && name
                       end
                     when :remove then table.delete(name) if table[name] == door
                     end
            back&.try_send([answer])
          rescue RubyVM::ClosedError
            break if changes.closed?
          rescue StandardError
            # Whoever sent that gets no answer.
            nil
          end
        end
      end

      private

      def ask(channel, what, *arguments)
        back = RubyVM::Channel.new
        channel << [what, back, *arguments]
        until (answer = back.recv(timeout: 0.5))
          raise RubyVM::ClosedError if channel.closed?
        end
        answer[0]
      rescue RubyVM::ClosedError
        raise DRbConnError, "the VM that keeps the names of drb+mvm:// has ended"
      end
    end

    class << self
      # The names by which this VM finds servers and registers its own: those of the VM that it was forked from, or its own.
      def names
        here
        @names
      end

      # Another table, which some other VM has sent, or its channels (Names#to_a).
      def names=(names)
        names = Names.of(names) if Array === names
        raise TypeError, "wrong argument type #{names.class} (expected DRb::MVM::Names)" unless Names === names
        here
        @names.close if @own
        @own = false
        @names = names
      end

      # A fork has servers and connections of the VM that it comes from in its memory. They are not its own. Nor is the thread there that kept the names, in a forked process.
      def here # :nodoc:
        before, now = @vm, RubyVM.__here
        return if before == now
        @vm = now
        @idle = {}
        return if before.nil?
        # The number of the VM, without that of the process.
        @own &&= before >> 22 == now >> 22
        @names = Names.new if @own
        Thread.current["DRb"] = nil
        DRb.instance_variable_get(:@server).clear
        DRb.primary_server = nil
      end

      def __start # :nodoc:
        here
        @own = true
        @names ||= Names.new
      end

      # Connections to a server that nobody uses at the moment.
      def idle(uri) # :nodoc:
        here
        @idle[uri] ||= []
      end
    end
  end

  # The protocol: a server, or one end of a connection.
  class DRbMVMChannel # :nodoc:
    SCHEME = "drb+mvm://"

    # What DRbMessage made of an object.
    Dumped = Struct.new(:bytes)

    # Bytes as a stream.
    class Reader
      def initialize(bytes)
        @bytes, @at = bytes, 0
      end

      def read(count)
        part = @bytes.byteslice(@at, count)
        @at += part.bytesize
        part
      end
    end
    private_constant :Dumped, :Reader

    class << self
      def parse_uri(uri)
        raise DRbBadScheme, uri unless uri&.start_with?("drb+mvm:")
        raise DRbBadURI, "can't parse uri:#{uri}" unless %r{\Adrb\+mvm://([^?\s]*)(?:\?(.*))?\z}m =~ uri
        [$1, $2]
      end

      def uri_option(uri, _config)
        name, option = parse_uri(uri)
        ["#{SCHEME}#{name}", option]
      end

      def open_server(uri, config)
        name, = parse_uri(uri)
        MVM.here
        door = RubyVM::Channel.new
        RubyVM.current.__send__(:__take_along, nil, door)
        name = MVM.names.register(name.empty? ? nil : name, door)
        Server.new("#{SCHEME}#{name}", name, door, config)
      end

      def open(uri, config)
        name, = parse_uri(uri)
        door = MVM.names.lookup(name) or
          raise DRbConnError, "no server is called #{SCHEME}#{name} here (its VM and this one need the same DRb::MVM.names; #{MVM.names.list.size} others have names)"
        requests, replies = RubyVM::Channel.new, RubyVM::Channel.new
        begin
          door << [requests, replies]
        rescue RubyVM::ClosedError
          raise DRbConnError, "#{SCHEME}#{name} has ended"
        end
        # The server says that it has them: from then on its end closes them.
        until replies.recv(timeout: 0.5)
          raise DRbConnError, "#{SCHEME}#{name} has ended" if door.closed?
        end
        new("#{SCHEME}#{name}", replies, requests, config)
      end
    end

    # What accepts connections.
    class Server
      attr_reader :uri

      def initialize(uri, name, door, config)
        @uri, @name, @door, @config = uri, name, door, config
        @names = MVM.names
      end

      # The next connection; nil at the end.
      def accept
        while (message = @door.recv)
          requests, replies = message
          next unless RubyVM::Channel === requests && RubyVM::Channel === replies
          client = DRbMVMChannel.new(@uri, requests, replies, @config)
          return client if client.greet
        end
      end

      def shutdown
        @names.remove(@name, @door)
        @door.close
      end

      def close
        shutdown
        RubyVM.current.unmonitor(@door)
      end
    end

    attr_reader :uri

    # `from`, `to`: channels of messages to and from this end.
    def initialize(uri, from, to, config)
      @uri, @from, @to = uri, from, to
      @message = DRbMessage.new(config)
      @argc_limit = config[:argc_limit] || 256
      # The other side learns of this VM's end by it.
      RubyVM.current.__send__(:__take_along, nil, to)
    end

    def greet
      @to << true
    rescue RubyVM::ClosedError
      false
    end

    def send_request(ref, name, arguments, block)
      @to << [encode(ref.__drbref), name, arguments.map { |argument| encode(argument) }, block && encode(block)]
    rescue RubyVM::ClosedError
      raise DRbConnError, "connection closed"
    end

    def recv_request
      ref, name, arguments, block = receive
      object = DRb.to_obj(decode(ref))
      raise DRbConnError, "too many arguments" if arguments.size > @argc_limit
      [object, name, arguments.map { |argument| decode(argument) }, block && decode(block)]
    end

    def send_reply(succeeded, result)
      @to << [succeeded, encode(result, !succeeded)]
    rescue RubyVM::ClosedError
      raise DRbConnError, "connection closed"
    end

    def recv_reply
      succeeded, result = receive
      [succeeded, decode(result)]
    end

    def close
      @to.close
      @from.close
      RubyVM.current.unmonitor(@to)
    end

    def alive? = !@from.closed?

    private

    def receive = @from.recv || raise(DRbConnError, "connection closed")

    def encode(object, error = false)
      # Marshal's copies are not frozen.
      return String.new(object) if String === object && object.frozen? && text?(object)
      plain?(object, 0) ? object : Dumped.new(@message.dump(object, error))
    end

    def decode(object) = Dumped === object ? @message.load(Reader.new(object.bytes)) : object

    # What a message copies as Marshal would.
    def plain?(object, depth)
      case object
      when Integer, Symbol, nil, true, false, Float then true
      when String then !object.frozen? && text?(object)
      when Array then object.instance_of?(Array) && !object.frozen? && depth < 3 && object.size < 64 && object.all? { |part| plain?(part, depth + 1) }
      when Hash
        object.instance_of?(Hash) && !object.frozen? && depth < 3 && object.size < 32 && !object.compare_by_identity? && !object.default_proc && object.default.nil? &&
          object.all? { |key, value| (String === key ? text?(key) : plain?(key, depth + 1)) && plain?(value, depth + 1) }
      else false
      end
    end

    def text?(string) = string.instance_of?(String) && string.instance_variables.empty? && string.singleton_methods(false).empty?
  end
  DRbProtocol.add_protocol(DRbMVMChannel)

  # Connections over channels need no thread that keeps them.
  DRbConn.singleton_class.prepend(Module.new do
    def open(uri) # :nodoc:
      return super unless uri.start_with?(DRbMVMChannel::SCHEME)
      idle = MVM.idle(uri)
      connection = idle.pop
      connection = new(uri) unless connection&.alive?
      begin
        succeeded, result = yield(connection)
        [succeeded, result]
      ensure
        succeeded && idle.size < DRbConn::POOL_SIZE ? idle.push(connection) : connection.close
      end
    end
  end)

  # Servers of another VM are none of this one's.
  singleton_class.prepend(Module.new do
    def current_server # :nodoc:
      MVM.here
      super
    end

    def fetch_server(uri) # :nodoc:
      MVM.here
      super
    end
  end)

  # What is public may be called: known without a list of all private methods.
  DRbServer.prepend(Module.new do
    # Before this VM has anything of its own: the threads of its connections must not find that out.
    def initialize(...) # :nodoc:
      MVM.here
      super
    end

    responds = ::Kernel.instance_method(:respond_to?)
    define_method(:check_insecure_method) do |object, name| # :nodoc:
      return true if Symbol === name && Object === object && !insecure_method?(name) && responds.bind_call(object, name)
      super(object, name)
    end
  end)
  MVM.__start
end
