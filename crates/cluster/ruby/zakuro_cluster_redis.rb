# Redis (docs/cluster.md): a channel is a Stream with one consumer group. What is acknowledged is deleted, so the stream's length is what is not done.
module RubyVM::Cluster
  # A connection that speaks RESP 2.
  class RedisConnection < Connection # :nodoc:
    # What a server takes unless it is told otherwise, and no more is opened here.
    MOST = 512 << 20

    # Which life of the server this is: another one may have forgotten what it was told.
    attr_reader :generation
    # What the server calls this connection; nil: it does not say.
    attr_reader :number

    def self.command(*parts)
      bytes = String.new("*#{parts.size}\r\n")
      parts.each do |part|
        part = part.to_s
        bytes << "$#{part.bytesize}\r\n" << (part.encoding == Encoding::BINARY ? part : part.b) << "\r\n"
      end
      bytes
    end

    # Errors of a server that will answer in a while.
    PASSES = /\A(?:LOADING|BUSY|MASTERDOWN) /
    # Which script it was: nobody outside knows it.
    WHERE = /\s*script: \h{40}, on @user_script:\d+\.?\s*\z/
    private_constant :PASSES, :WHERE

    def run_command(*parts, timeout: @timeout) = call(RedisConnection.command(*parts), timeout)

    # A script, by its digest once the server knows it. `size`: that of the largest argument.
    def script(script, keys, arguments, timeout: @timeout, size: 0)
      call(script.call(keys, arguments), timeout, size:)
    rescue Refused => e
      raise unless e.message.include?("NOSCRIPT")
      run_command("SCRIPT", "LOAD", script.text, timeout:)
      call(script.call(keys, arguments), timeout, size:)
    end

    private

    def open_socket
      socket = super
      @address.tls? ? secure(socket) : socket
    end

    def greet
      commands = []
      if (password = @address.password)
        secrets = [@address.user, password].compact.each { |text| text.force_encoding(Encoding::BINARY) }
        commands << ["AUTH", *secrets]
      end
      commands << ["SELECT", @address.database] if @address.database
      commands << %w[CLIENT SETNAME zakuro] << %w[CLIENT ID] << ["INFO", "server"] << ["INFO", "persistence"] << ["CONFIG", "GET", "proto-max-bulk-len"]
      @largest = MOST
      write_secretly(*commands.map { |parts| RedisConnection.command(*parts) }, also: secrets)
      commands.each do |parts|
        fine, reply = first_reply
        @number = fine ? reply : nil if parts == %w[CLIENT ID]
        @generation = reply[/^run_id:(\h+)/, 1] if fine && parts[1] == "server"
        # It reads what it had kept, and answers nothing meanwhile: as if it were not there yet.
        raise IOError, "the server is loading its data" if fine && parts[1] == "persistence" && reply.match?(/^loading:1/)
        # Not everybody may ask for it.
        @largest = [@largest, Integer(reply[1])].min if fine && parts[0] == "CONFIG" && reply[1]
        next if fine || %w[CLIENT CONFIG].include?(parts[0])
        raise IOError, reply if reply.match?(PASSES)
        raise Refused, "#{@address.server} refuses: #{reply}"
      end
    end

    def first_reply
      @early ||= []
      while @early.empty?
        @socket.readpartial(PIECE, @piece ||= String.new)
        @buffer << @piece
        taken, *found = Native.replies(@buffer)
        consume(taken)
        @early.concat(found.each_slice(2).to_a)
      end
      @early.shift
    end

    def take
      taken, *found = Native.replies(@buffer)
      return false if taken == 0
      consume(taken)
      @lock.synchronize do
        i = 0
        while i < found.size
          # What was asked is asked again, later.
          raise IOError, found[i + 1] if !found[i] && found[i + 1].match?(PASSES)
          _, request = @pending.shift
          raise ProtocolError, "#{@address.server} sent an answer that nobody asked for" unless request
          found[i] ? request.answer(found[i + 1]) : request.answer(nil, Refused.new("#{@address.server} refuses: #{found[i + 1].sub(WHERE, "")}"))
          i += 2
        end
      end
      true
    end
  end

  # What the server runs as one step.
  class Script # :nodoc:
    attr_reader :text

    def initialize(text)
      require "digest"
      @text = text
      @digest = Digest::SHA1.hexdigest(text)
    end

    def call(keys, arguments) = RedisConnection.command("EVALSHA", @digest, keys.size, *keys, *arguments)
  end

  # A channel's side of a stream. One that is not there was deleted if it was seen in this life of the server, which has lost it else: then it is made anew.
  class RedisQueue # :nodoc:
    include Removable

    GROUP = "zakuro"
    # 1: sent, 2: sent before, 0: full, -1: closed, -2: there is no stream, and it may not be made.
    SEND = Script.new(<<~LUA)
      if redis.call('EXISTS', KEYS[2]) == 1 then return -1 end
      if ARGV[5] == '0' and redis.call('EXISTS', KEYS[1]) == 0 then return -2 end
      if ARGV[4] ~= '0' and redis.call('EXISTS', KEYS[3]) == 1 then return 2 end
      if ARGV[1] ~= '0' and redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
      if ARGV[3] == '' then redis.call('XADD', KEYS[1], '*', 'm', ARGV[2])
      else redis.call('XADD', KEYS[1], '*', 'm', ARGV[2], 'i', ARGV[3]) end
      if ARGV[4] ~= '0' then redis.call('SET', KEYS[3], '', 'PX', ARGV[4]) end
      return 1
    LUA
    # What was deleted is not closed: it would be so when it is opened again.
    CLOSE = Script.new(<<~LUA)
      if ARGV[1] == '0' and redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
      redis.call('SET', KEYS[2], 1)
      return 1
    LUA
    ACKNOWLEDGE = Script.new(<<~LUA)
      redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, 2))
      return redis.call('XDEL', KEYS[1], unpack(ARGV, 2))
    LUA
    # What nobody has touched for so long, with the number of times that it was handed out.
    CLAIM = Script.new(<<~LUA)
      local found = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], 'COUNT', ARGV[5])
      local out = { found[1] }
      for _, entry in ipairs(found[2]) do
        if entry and entry[2] then
          local pending = redis.call('XPENDING', KEYS[1], ARGV[1], entry[1], entry[1], 1)
          out[#out + 1] = { entry[1], entry[2], pending[1] and pending[1][4] or 1 }
        end
      end
      return out
    LUA
    SET_ASIDE = Script.new(<<~LUA)
      redis.call('XADD', KEYS[2], 'MAXLEN', '~', 1000, '*', 'm', ARGV[3], 'why', ARGV[4])
      redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
      return redis.call('XDEL', KEYS[1], ARGV[2])
    LUA
    # What a consumer leaves pending would be nobody's if it were deleted.
    LEAVE = Script.new(<<~LUA)
      if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) == 0 then redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2]) end
      for _, row in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
        if row[4] == 0 and row[6] > 3600000 then redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], row[2]) end
      end
      return 1
    LUA
    # All that a consumer has, for others, at once.
    LEAVE_ALL = Script.new(<<~LUA)
      for _ = 1, 100 do
        local rows = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000, ARGV[2])
        if #rows == 0 then
          redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
          break
        end
        local claim = { 'XCLAIM', KEYS[1], ARGV[1], 'returned', 0 }
        for _, row in ipairs(rows) do claim[#claim + 1] = row[1] end
        for _, word in ipairs({ 'IDLE', '1000000000', 'JUSTID' }) do claim[#claim + 1] = word end
        redis.call(unpack(claim))
      end
      return 1
    LUA
    OUTCOMES = { 1 => :sent, 2 => :sent, 0 => :full, -1 => :closed, -2 => :unsure }.freeze
    NONE = [].freeze
    # What a server says of a stream, or of its group, that is not there, or that was deleted while it was read.
    NOT_THERE = /NOGROUP|no such key|UNBLOCKED/

    attr_reader :address
    # Whether the stream is made anew whatever became of it, as those of pools are; whether others make it.
    attr_writer :lasting, :foreign

    # Parts are NATS'.
    def initialize(address, bound:, ack_wait:, deduplicate:, timeout:, **)
      @address, @bound, @ack_wait, @timeout = address, bound || 0, ack_wait, timeout
      @window = deduplicate ? (deduplicate * 1000).ceil : 0
      @key = address.name
      @consumer = "#{Process.pid}-#{RubyVM::Cluster.random_name}"
      @cursor = "0-0"
      @making = Mutex.new
    end

    def connection = @connection ||= RedisConnection.new(@address, @timeout)
    # Whether this VM has one.
    def connected? = @connection&.here?
    def generation = connection.generation

    # What can be told at once that is wrong.
    def open(timeout)
      connection.run_command("PING", timeout:)
      make_group(timeout:) unless @lasting
    rescue Refused => e
      # Who may only send.
      raise unless e.message.include?("NOPERM")
    end

    # TooLarge when the server does not take it.
    def fits(text) = connection.fits(text.bytesize)

    # What `publish` takes.
    def prepared(head, content, _id)
      connection.fits((head ? head.bytesize : 0) + content.bytesize)
      head ? head << content : content
    end

    def publish(payload, id, timeout = @timeout)
      while true
        raise gone if @deleted
        generation = connection.generation
        outcome = OUTCOMES.fetch(connection.script(SEND, keys(id), [@bound, payload, id, @window, may_make], timeout:, size: payload.bytesize))
        @known = generation if outcome == :sent
        return outcome unless outcome == :unsure
        return :nobody if @foreign
        was_deleted if deleted?
      end
    end

    # The block hears the outcome, or an error, under the connection's lock. :unsure when `publish` would know more: the stream is not there, or the server has forgotten the script.
    def publish_later(payload, id)
      generation = connection.generation
      connection.tell(SEND.call(keys(id), [@bound, payload, id, @window, may_make]), size: payload.bytesize) do |reply, error|
        outcome = OUTCOMES[reply]
        @known = generation if outcome == :sent
        outcome, error = :unsure, nil if error&.message&.include?("NOSCRIPT")
        yield outcome, error
      end
    end

    # What it may hold is for each sender to say.
    def holds = nil
    # Seconds that it takes to make room when it has heard that messages are done.
    def settles = 0

    # The block is called when the server has heard it, or with an error, and with whether it should be told again: one that has started anew does not know the script.
    def acknowledge(tokens, _parts)
      load_scripts
      connection.tell(ACKNOWLEDGE.call([@key], [GROUP, *tokens])) do |_, error|
        @loaded = nil if error
        yield error, error&.message&.include?("NOSCRIPT")
      end
    end

    # Still at it.
    def touch(tokens)
      tokens.each_slice(1000) { |some| connection.tell(RedisConnection.command("XCLAIM", @key, GROUP, @consumer, 0, *some, "JUSTID")) }
    end

    # For others, at once: they see what is theirs when they look for it, each second. `soon`: this handle looks now.
    def give_back(tokens, soon: false)
      tokens.each_slice(1000) do |some|
        connection.run_command("XCLAIM", @key, GROUP, "returned", 0, *some, "IDLE", 1_000_000_000, "JUSTID")
      end
      look_for_returned if soon
    rescue Refused => e
      # There is nothing to give back to.
      raise unless e.message.match?(NOT_THERE)
    end

    def set_aside(delivery, why)
      make { connection.script(SET_ASIDE, [@key, "#{@key}:dead"], [GROUP, delivery.token, delivery.payload, why]) }
    end

    def close = connection.script(CLOSE, [@key, "#{@key}:closed"], [may_make])
    # A channel that was deleted is, too.
    def closed? = connection.run_command("EXISTS", "#{@key}:closed") == 1 || (connection.run_command("EXISTS", @key) == 0 && deleted?)
    def size = connection.run_command("XLEN", @key)

    # Whether it is closed, and nothing is left. ClosedError when it was deleted.
    def over?
      return size == 0 if connection.run_command("EXISTS", "#{@key}:closed") == 1
      was_deleted if connection.run_command("EXISTS", @key) == 0 && deleted?
      false
    end

    def delete = remove_for_good { drop(@key) }

    def disconnect
      if @consumes && connected?
        begin
          connection.script(LEAVE, [@key], [GROUP, @consumer], timeout: 1)
        rescue Error
          nil
        end
      end
      @reading&.close
      @connection&.close
    end

    # The receiver's thread: fetches for the channel until it is released.
    def fetch_for(channel)
      reading = @reading = RedisConnection.new(@address, @timeout)
      @consumes = true
      looked = 0
      seen = 1
      every = [@ack_wait / 3.0, 1.0].min
      until channel.released?
        begin
          find_group if @missing || !@grouped
          if RubyVM::Cluster.now - looked >= every
            looked = RubyVM::Cluster.now
            channel.give_back_idle
            touch(channel.tokens)
            return rest(reading) if channel.rests?
            free = channel.room
            # What others left behind.
            claim(free, channel) if free > 0
          end
          if @returned && (free = channel.room) > 0
            @returned = false
            @cursor = "0-0"
            claim(free, channel)
          end
          if reading.connects > seen
            # What was handed out and got lost with the connection.
            seen = reading.connects
            generation = connection.generation
            # What is done and told of while the server is asked was here before.
            here = channel.here
            channel.deliver(mine.reject { |delivery| here.key?(delivery.name) || channel.has?(delivery.name) })
            @grouped = @known = generation
          end
          free = channel.wait_for_room(every)
          next if free.nil? || free == 0 || @returned
          found = read(free, every)
          break if channel.released? && found.empty?
          if found.empty?
            channel.ended if over?
          else
            channel.deliver(found)
          end
        rescue Refused => e
          raise unless e.message.match?(NOT_THERE)
          @missing = true
        rescue Unavailable => e
          channel.trouble(e)
        end
      end
    end

    # The thread that fetches waits for the server.
    def wake = @reading&.interrupt

    # For others, at once, by a moment. What the server hands out in this moment is not known here, so it is asked; of what the block would answer, too.
    def give_back_all(by)
      left = -> { [by - RubyVM::Cluster.now, 0.01].max }
      begin
        connection.run_command("CLIENT", "UNBLOCK", @reading.number, timeout: left.call) if @reading&.number
      rescue Refused
        # It may not; then what is handed out until the connection ends comes to others in time.
        nil
      end
      connection.script(LEAVE_ALL, [@key], [GROUP, @consumer], timeout: left.call)
      connection.settle(left.call)
    end

    # What is not of a channel: texts by name, for a time in seconds.
    def put(name, text, seconds)
      connection.call(RedisConnection.command("SET", "#{@key}:#{name}", text, "PX", (seconds * 1000).ceil), size: text.bytesize)
    end

    def get(name) = connection.run_command("GET", "#{@key}:#{name}")
    def remove(name) = connection.run_command("DEL", "#{@key}:#{name}")

    # Channels by what follows the beginning of their names, with what `drop` wants.
    def channels(beginning) = names(beginning, "TYPE", "stream").reject { |name| name.end_with?(":dead") }.to_h { |name| [name.byteslice(beginning.bytesize..), name] }
    def drop(name) = connection.run_command("DEL", name, "#{name}:closed", "#{name}:dead")

    def list(prefix)
      from = "#{@key}:#{prefix}"
      names(from).filter_map { |name| (text = connection.run_command("GET", name)) && [name.byteslice(from.bytesize..), text] }.to_h
    end

    private

    # Names on the server that begin so.
    def names(beginning, *more)
      pattern = "#{beginning.gsub(/[*?\[\]\\]/) { "\\#{$&}" }}*"
      found = []
      cursor = "0"
      while true
        cursor, some = connection.run_command("SCAN", cursor, "MATCH", pattern, "COUNT", 1000, *more)
        found.concat(some)
        break if cursor == "0"
      end
      found.uniq
    end

    def keys(id) = [@key, "#{@key}:closed", "#{@key}:sent:#{id}"]

    def load_scripts
      return if @loaded == connection.connects
      @loaded = connection.connects
      connection.run_command("SCRIPT", "LOAD", ACKNOWLEDGE.text)
    end

    def make_group(timeout: @timeout)
      before = connection.generation
      begin
        make { connection.run_command("XGROUP", "CREATE", @key, GROUP, "0", "MKSTREAM", timeout:) }
      rescue Refused => e
        raise unless e.message.include?("BUSYGROUP")
      end
      @grouped = @known = before || connection.generation
    end

    # For who reads. A group that was there in this life of the server has gone with its stream.
    def find_group
      # Until it is known here, too, which life this is.
      connection.run_command("PING")
      was_deleted if @missing && @grouped == connection.generation && !@lasting
      make_group
      @missing = false
    end

    # Whether a message may make the stream.
    def may_make = @foreign || deleted? ? 0 : 1

    # Where the stream is not there: whether somebody has deleted it.
    def deleted? = !@lasting && !@known.nil? && @known == connection.generation

    def was_deleted
      @deleted = true
      raise gone
    end

    # Another thread fetches when somebody asks, perhaps by now.
    def rest(reading)
      reading.close
      @reading = nil if reading.equal?(@reading)
    end

    # The thread that fetches looks for what was given back, also if it waits for the server.
    def look_for_returned
      @returned = true
      # It may be about to wait.
      5.times do
        return unless @returned && @reading_now && @reading&.number
        break if connection.run_command("CLIENT", "UNBLOCK", @reading.number) == 1
        sleep(0.001)
      end
    rescue Refused
      # It may not: within a second, then.
      nil
    end

    def claim(count, channel)
      @cursor, *found = connection.script(CLAIM, [@key], [GROUP, @consumer, (@ack_wait * 1000).ceil, @cursor, count])
      # There may be more; looked for when there is room.
      @returned = true if found.size == count
      channel.deliver(found.map { |token, fields, attempt| delivery(token, fields, attempt) }) unless found.empty?
    end

    # What the server takes for being here: nobody else has begun with it.
    def mine
      reply = connection.run_command("XREADGROUP", "GROUP", GROUP, @consumer, "COUNT", 1000, "STREAMS", @key, "0")
      reply ? reply[0][1].filter_map { |token, fields| fields && delivery(token, fields, 1) } : NONE
    end

    def read(count, seconds)
      @reading_now = true
      # What was given back by now did not know of it.
      return NONE if @returned
      reply = @reading.run_command("XREADGROUP", "GROUP", GROUP, @consumer, "COUNT", count, "BLOCK", (seconds * 1000).ceil, "STREAMS", @key, ">", timeout: @timeout + seconds)
      reply ? reply[0][1].map { |token, fields| delivery(token, fields, 1) } : NONE
    ensure
      @reading_now = false
    end

    def delivery(token, fields, attempt)
      payload = id = nil
      (0...(fields || NONE).size).step(2) do |i|
        case fields[i]
        when "m" then payload = fields[i + 1]
        when "i" then id = fields[i + 1]
        end
      end
      Delivery.new(token, id, attempt, payload, token)
    end
  end
  private_constant :RedisConnection, :RedisQueue, :Script
end
