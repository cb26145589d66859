# NATS with JetStream (docs/cluster.md): a channel is a stream of one subject that keeps a message until it is acknowledged, with one consumer that all receivers pull from.
module RubyVM::Cluster
  # A connection that speaks NATS' client protocol.
  class NatsConnection < Connection # :nodoc:
    # Which life of the server this is: another one may have lost its streams.
    attr_reader :generation

    def initialize(address, timeout)
      @inbox = "_INBOX.#{RubyVM::Cluster.random_name}"
      @subscriptions = {}
      super
    end

    # Asks a subject, and waits for the answer: [headers or nil, payload].
    def request(subject, payload, headers = nil, timeout: @timeout)
      name = locked { new_name }
      ask(name, publication(subject, payload, "#{@inbox}.#{name}", headers), size(payload, headers), timeout)
    end

    # The block hears the answer, under the connection's lock. Answers the name of the request.
    def request_later(subject, payload, headers = nil, &heard)
      fits(size(payload, headers))
      name = locked { request_within(subject, payload, headers, &heard) }
      flush
      name
    end

    # The same, under the lock, without a flush: for who has heard an answer, or within `together`.
    def request_within(subject, payload, headers = nil, &heard)
      name = new_name
      enqueue(name, Request.new(publication(subject, payload, "#{@inbox}.#{name}", headers), size(payload, headers), heard))
      name
    end

    # Asks so many times, `ahead` of them at once: the Proc answers subject and payload for a number. The block gets the answers in their order.
    def one_after_the_other(count, ahead, question)
      answers, names = {}, {}
      ask = ->(number) do
        names[number] = request_later(*question.call(number)) do |reply, error|
          answers[number] = [reply, error]
          changed
        end
      end
      ahead = [ahead, count].min
      (ahead - 1).times(&ask)
      count.times do |i|
        ask.call(i + ahead - 1) if i + ahead <= count
        wait_until { answers.key?(i) } or raise Unavailable, "no answer from #{@address.server} in #{@timeout} s#{" (#{@why})" if @why}"
        names.delete(i)
        reply, error = answers.delete(i)
        raise error if error
        yield(*reply)
      end
    ensure
      # What was not sent is not sent any more, and answers are nobody's.
      locked { names.each_value { |name| @pending.delete(name)&.answer(nil) } } if names && !names.empty?
    end

    # Most bytes of a message; waits for the first connection.
    def largest
      return @largest if @largest
      wait_until { @largest } or raise Unavailable, "no answer from #{@address.server} in #{@timeout} s#{" (#{@why})" if @why}"
      @largest
    end

    # Without an answer.
    def publish(subject, payload, reply = nil) = say(publication(subject, payload, reply, nil))

    # The block gets each message of the subject: subject, reply, headers, payload. It is called by the connection's thread. Answers the number of the subscription.
    def subscribe(subject, &block)
      number = locked do
        @subscribed = (@subscribed || 1) + 1
        @subscriptions[@subscribed] = [subject, block]
        @outbox << "SUB #{subject} #{@subscribed}\r\n" if @ready
        @subscribed
      end
      flush
      number
    end

    # The server sends no more of it; what is on its way is still heard. Answers the block.
    def unsubscribe(number)
      locked do
        subject, block = @subscriptions[number]
        # Not again with a new connection.
        @subscriptions[number] = [nil, block] if subject
        @outbox << "UNSUB #{number}\r\n" if @ready
      end
      flush
      @subscriptions[number][1]
    end

    # Nothing of it is on its way.
    def forget(number)
      unsubscribe(number)
      locked { @subscriptions.delete(number) }
      nil
    end

    # An answer of JetStream's, as a Hash.
    def api(what, body = {}, timeout: @timeout)
      require "json"
      headers, payload = request("$JS.API.#{what}", body.empty? ? "" : JSON.generate(body), timeout:)
      raise Refused, "#{@address.server} has no JetStream (nats-server -js)" if headers&.start_with?("NATS/1.0 503")
      answer = JSON.parse(payload)
      error = answer["error"] and raise Failure.new("#{@address.server} refuses: #{error["description"]}", error["err_code"])
      answer
    end

    # What JetStream said no to.
    class Failure < Refused # :nodoc:
      attr_reader :number

      def initialize(message, number)
        super(message)
        @number = number
      end
    end

    # What the server's `max_payload` is about.
    def size(payload, headers) = payload.bytesize + (headers ? headers.bytesize : 0)

    private

    def publication(subject, payload, reply, headers)
      payload = payload.b unless payload.encoding == Encoding::BINARY
      if headers
        String.new("HPUB #{subject} #{"#{reply} " if reply}#{headers.bytesize} #{headers.bytesize + payload.bytesize}\r\n") << headers.b << payload << "\r\n"
      else
        String.new("PUB #{subject} #{"#{reply} " if reply}#{payload.bytesize}\r\n") << payload << "\r\n"
      end
    end

    def greet
      require "json"
      # As long as it says nothing.
      @why = "it has not greeted as a NATS server does"
      name, rest = first_operation
      raise ProtocolError, "#{@address.server} is no NATS server" unless name == "INFO"
      info = learn(rest)
      raise ProtocolError, "#{@address.server} knows no headers: it is older than NATS 2.2" unless info["headers"]
      if @address.tls?
        @socket = secure(@socket)
      elsif info["tls_required"]
        raise Refused, "#{@address.server} wants TLS: tls://"
      end
      options = { verbose: false, pedantic: false, lang: "ruby", version: "1", name: "zakuro", protocol: 1, headers: true, no_responders: true }
      options[:auth_token], options[:user] = @address.token, @address.user
      options[:pass] = @address.password
      options.compact!
      options.update(proof(info["nonce"]))
      write_secretly(+"CONNECT ", JSON.generate(options), +"\r\nPING\r\n", also: options.values_at(:auth_token, :user, :pass))
      until (found = first_operation)[0] == "PONG"
        raise Refused, "#{@address.server} refuses: #{found[1]}" if found[0] == "-ERR"
      end
    end

    # That this end has the key whose public half the server, or who signed the credentials, knows.
    def proof(nonce)
      seed = @address.nkey
      jwt = nil
      if (text = @address.credentials)
        jwt, seed = %w[JWT SEED].map { |part| text[/-----BEGIN [A-Z ]*#{part}-----\s+(\S+)\s+-+END/, 1] }
        raise Refused, "credentials: is no file of NATS' credentials" unless jwt && seed
      end
      return {} unless seed
      raise Refused, "#{@address.server} asks for no nkey" unless nonce
      require "openssl"
      key = Nkey.new(seed)
      { nkey: jwt ? nil : key.public, jwt:, sig: [key.sign(nonce)].pack("m0").tr("+/", "-_").delete("=") }.compact
    end

    # What a server tells of itself, at first and when it changes.
    def learn(text)
      info = JSON.parse(text)
      @largest = info["max_payload"] if Integer === info["max_payload"]
      @generation = info["server_id"] if String === info["server_id"]
      info
    rescue JSON::ParserError, TypeError
      raise ProtocolError, "#{@address.server} is no NATS server"
    end

    def first_operation
      while true
        taken, *found = Native.operations(@buffer)
        if taken > 0
          # One at a time: what follows an INFO may be TLS.
          @early = (@early || []).concat(found)
          consume(taken)
        end
        return @early.shift if @early && !@early.empty?
        @socket.readpartial(PIECE, @piece ||= String.new)
        @buffer << @piece
      end
    end

    def opened
      @outbox << "SUB #{@inbox}.* 1\r\n"
      @subscriptions.each { |number, (subject)| @outbox << "SUB #{subject} #{number}\r\n" if subject }
    end

    def take
      taken, *found = Native.operations(@buffer)
      return false if taken == 0
      consume(taken)
      # Answers under one lock, others as they come.
      i = 0
      while i < found.size
        number, subject, reply, headers, payload = found[i]
        case number
        when 1
          @lock.synchronize do
            while i < found.size && found[i][0] == 1
              _, subject, _, headers, payload = found[i]
              @pending.delete(Integer(subject.byteslice(@inbox.bytesize + 1..), 10, exception: false))&.answer([headers, payload])
              i += 1
            end
          end
          # What somebody asked who has heard one.
          flush
          next
        when Integer then @subscriptions[number]&.last&.call(subject, reply, headers, payload)
        when "PING" then say("PONG\r\n")
        when "INFO" then learn(subject)
        when "-ERR"
          @why = subject
          raise IOError, subject unless subject.match?(/permissions violation/i)
        end
        i += 1
      end
      true
    end
  end

  # A key of NATS: Ed25519, written in base 32 with what it is for in front and a checksum (CRC-16/XMODEM) behind.
  class Nkey # :nodoc:
    LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    # The first byte of a user's public key.
    USER = 20 << 3

    def initialize(seed)
      raw = Nkey.decode(seed.strip)
      raise Refused, "nkey: is no seed of a user (it begins with SU)" unless raw && raw.bytesize == 34 && seed.strip.start_with?("SU")
      @key = OpenSSL::PKey.new_raw_private_key("ED25519", raw.byteslice(2, 32))
    end

    def public = Nkey.encode([USER].pack("C") << @key.raw_public_key)
    def sign(text) = @key.sign(nil, text)

    # nil when it is none.
    def self.decode(text)
      bits = text.each_char.map { |c| LETTERS.index(c)&.to_s(2)&.rjust(5, "0") or return }.join
      bytes = [bits[0, bits.size / 8 * 8]].pack("B*")
      content = bytes.byteslice(0...-2)
      content if bytes.bytesize > 2 && sum(content) == bytes.byteslice(-2, 2).unpack1("v")
    end

    def self.encode(bytes) = (bytes + [sum(bytes)].pack("v")).unpack1("B*").scan(/.{1,5}/).map { |five| LETTERS[five.ljust(5, "0").to_i(2)] }.join

    def self.sum(bytes)
      bytes.each_byte.inject(0) do |sum, byte|
        8.times.inject(sum ^ byte << 8) { |s, _| (s & 0x8000 == 0 ? s << 1 : s << 1 ^ 0x1021) & 0xffff }
      end
    end
  end
  private_constant :Nkey

  # A channel's side of a stream.
  #
  # A stream that is not there was deleted, or its server has lost it. Each life of a server has a name of its own: if the stream was seen in this one, somebody has deleted it, and this handle's channel
  # is no more; else it is made anew. Who makes a stream gives it a mark (its description; a server may tell another time of its making when it has started again), after which the consumer is called: what
  # is said of a message of a stream that was lost never concerns one of the stream that took its place, whose numbers begin again.
  class NatsQueue # :nodoc:
    include Removable

    STORE = "zakuro_store"
    NO_STREAM, NO_CONSUMER, NO_MESSAGE, NAME_IN_USE, ABOVE_THE_STREAMS, OVERLAP = 10_059, 10_014, 10_037, 10_058, 10_054, 10_065
    DAY, WEEK = 86_400, 7 * 86_400

    attr_reader :address
    # Most messages that the stream holds, if that is known.
    attr_reader :holds
    # Seconds that the server may take to make room when it has heard that messages are done.
    def settles = 0.02
    # Whether the stream is made anew whatever became of it, as those of pools are; whether others make it.
    attr_writer :lasting, :foreign

    # `parts`: whether messages go in parts that the server does not take; how long those stay, and how many bytes of them.
    def initialize(address, bound:, ack_wait:, deduplicate:, timeout:, parts: true, parts_age: WEEK, parts_bound: nil)
      @address, @bound, @ack_wait, @deduplicate, @timeout = address, bound, ack_wait, deduplicate, timeout
      @in_parts, @parts_age, @parts_bound = parts, parts_age, parts_bound
      @making = Mutex.new
      @subject = address.name.tr("/", ".")
      raise ArgumentError, "not a subject: #{@subject.inspect}" unless @subject.match?(/\A[^\s.*>]+(\.[^\s.*>]+)*\z/)
      @stream = "zakuro_#{@subject.gsub(/[^A-Za-z0-9_-]/, "_")}"
      # Two subjects may look alike then.
      @stream << "_#{@subject.sum(32)}" unless @stream == "zakuro_#{@subject}"
      @requested = 0
    end

    def connection = @connection ||= NatsConnection.new(@address, @timeout)
    # Whether this VM has one.
    def connected? = @connection&.here?

    # Which stream this is: another one has nothing of what was sent to the one before. Asked again when the server is another one.
    def generation
      found = info if @made&.first != connection.generation
      @made = [connection.generation, mark_of(found)] if found
      @made[1]
    end

    def open(timeout)
      # The first answer.
      return connection.largest if @foreign
      seen { make { make_stream(@stream, @subject, timeout:, description: "zakuro #{RubyVM::Cluster.random_name}") } }
    end

    # What `publish` takes: the payload, or, when the server does not take it as one, a Large of it. TooLarge when it does not go.
    def prepared(head, content, id)
      size = connection.size(content, id && headers(id)) + (head ? head.bytesize : 0)
      return head ? head << content : content if size <= connection.largest
      raise TooLarge.of(size, connection.largest, @address.server) unless @in_parts
      large = Large.new(content, head)
      fits(large)
      large
    end

    # TooLarge for what is too large for parts, too.
    def fits(message)
      raise TooLarge.of(message.bytesize, Parts::MOST, "#{@address.server} in parts") if message.bytesize > Parts::MOST
    end

    # :nobody when others have not made the stream, or have ended it.
    def publish(payload, id, timeout = @timeout)
      publish_now(payload, id, timeout)
    rescue NatsConnection::Failure => e
      raise unless @foreign && e.number == NO_STREAM
      :nobody
    end

    def publish_now(payload, id, timeout)
      raise gone if @deleted
      return publish_large(payload, id, timeout) if Large === payload
      begin
        hand_over(payload, id && headers(id), timeout)[0]
      rescue TooLarge
        # For another server than the one that was asked.
        raise unless @in_parts
        large = Large.new(payload)
        begin
          publish_large(large, id, timeout)
        ensure
          abandon(large)
        end
      end
    end

    # :unsure when `publish` would know what has become of the stream.
    def publish_later(payload, id)
      generation = connection.generation
      connection.request_later(@subject, payload, id && headers(id)) do |reply, error|
        outcome, error = outcome_of(*reply) unless error
        @known = generation if outcome == :sent
        yield (outcome == :nobody ? :unsure : outcome), error
      end
    end

    # The parts of what was not sent go, unless the server may have it nevertheless.
    def abandon(large)
      return if large.name.nil? || large.sent
      name, large.name = large.name, nil
      parts.forget(name)
    end

    # A delivery's content. nil when parts are missing: somebody else was done with it, or they were too old.
    def whole(delivery) = parts.get(delivery.parts)

    # What is not the last word: without waiting, for others, after a moment.
    def give_back_later(token) = connection.request_later(token, '-NAK {"delay":500000000}')

    # The block is called when the server has heard it, or with an error, and with whether it should be told again: one that has started anew may not have the consumer yet. `done`: the names of parts of
    # these messages, which go with them: who is killed has said both or neither.
    def acknowledge(tokens, done)
      again = false
      heard = ->(reply, _) { again ||= reply&.first&.start_with?("NATS/1.0 503") }
      connection.together do
        last = tokens.pop
        tokens.each { |token| connection.request_within(token, "+ACK", &heard) }
        connection.request_within(last, "+ACK") do |reply, error|
          heard.call(reply, error)
          yield error, again
        end
        done.each { |name| parts.forget_within(name) }
      end
    end
    def touch(tokens) = tokens.each { |token| connection.publish(token, "+WPI") }
    def give_back(tokens, **) = tokens.each { |token| connection.request(token, "-NAK") }

    def set_aside(delivery, why)
      dead = -> { make { make_stream("#{@stream}_dead", "#{@subject}.dead", retention: "limits", max_msgs: 1000, discard: "old") } }
      @dead ||= dead.call
      # Its parts stay until they are too old.
      note = "NATS/1.0\r\nWhy: #{why.gsub(/\s+/, " ")[0, 500]}\r\n#{delivery.parts&.header}\r\n"
      begin
        hand("#{@subject}.dead", delivery.payload || "", note, &dead)
      rescue TooLarge
        # With the note it is.
        hand("#{@subject}.dead", delivery.payload, nil, &dead)
      end
      connection.request(delivery.token, "+TERM")
    end

    # Nobody listens at its subject any more; what is in it stays.
    def close
      config = info["config"]
      return if closed_in?(config)
      connection.api("STREAM.UPDATE.#{@stream}", config.merge("description" => config["description"].to_s.sub(/\A\w*/, "closed"), "subjects" => ["zakuro.closed.#{@stream}"]))
    rescue RubyVM::ClosedError
      # It was deleted.
      nil
    end

    # A channel that was deleted is, too.
    def closed?
      closed_in?(info["config"])
    rescue RubyVM::ClosedError
      true
    end

    # What the consumer still has to hand out, or is not done with. (The stream of a server that was killed may hold again what had been removed from it.)
    def size
      found = info
      most = found["state"]["messages"]
      return 0 if most == 0
      found = connection.api("CONSUMER.INFO.#{@stream}.#{consumer_of(found)}")
      # A server (2.9) may count one twice that was given back. There are no more than the stream has.
      [found["num_pending"] + found["num_ack_pending"], most].min
    rescue NatsConnection::Failure => e
      raise unless [NO_CONSUMER, NO_STREAM].include?(e.number)
      most || 0
    rescue RubyVM::ClosedError
      0
    end

    # Whether it is closed, and nothing is left. ClosedError when it was deleted.
    def over? = closed_in?(info["config"]) && size == 0

    def delete = remove_for_good { drop(@stream) }

    def disconnect = @connection&.close

    # The receiver's thread: asks for messages for the channel until it is released.
    def fetch_for(channel)
      inbox = "_INBOX.#{RubyVM::Cluster.random_name}"
      subscription = @number = connection.subscribe(inbox) do |_subject, reply, headers, payload|
        if reply.nil? || (payload.empty? && headers&.match?(/\ANATS\/1\.0 \d/))
          channel.synchronize { @requested = 0 }
          @empty = true
          # It is not there any more.
          @consumer = nil if headers&.match?(/\ANATS\/1\.0 (?:503|409 Consumer Deleted)/)
          channel.wake
        else
          channel.synchronize { @requested -= 1 if @requested > 0 }
          named = PartsName.in(headers)
          payload = nil if named == false
          channel.deliver([Delivery.new(reply, id_in(headers), attempt(reply), payload, number(reply), named || nil)])
        end
      end
      every = [@ack_wait / 3.0, 1.0].min
      looked = fine = RubyVM::Cluster.now
      asked = seen = 0
      until channel.released?
        begin
          make_consumer unless @consumer && seen == connection.connects
          if seen != connection.connects
            seen = connection.connects
            channel.synchronize { @requested = 0 }
          end
          if RubyVM::Cluster.now - looked >= every
            looked = RubyVM::Cluster.now
            channel.give_back_idle
            touch(channel.tokens)
            # What was asked for would come to nobody.
            return connection.forget(subscription) if channel.rests? { @requested == 0 }
          end
          # What was asked for is over. If the server does not say so, there is perhaps nobody to say it: the stream was deleted, and made again by a sender.
          if @requested > 0 && RubyVM::Cluster.now - asked > every + 1
            channel.synchronize { @requested = 0 }
            @consumer = nil
            next
          end
          if @empty && channel.holds_nothing?
            @empty = false
            channel.ended if over?
          end
          fine = RubyVM::Cluster.now
          free = channel.wait_for_room(every) { @requested == 0 }
          next unless free && free > 0
          asked = RubyVM::Cluster.now
          channel.synchronize { @requested = free }
          connection.publish("$JS.API.CONSUMER.MSG.NEXT.#{@stream}.#{@consumer}", %({"batch":#{free},"expires":#{(every * 1_000_000_000).round}}), inbox)
        rescue RubyVM::ClosedError
          break if channel.released?
          raise
        rescue Refused => e
          # It was taken before: a server that has just started, or is about to remove the stream.
          raise if seen == 0 || (!@lasting && RubyVM::Cluster.now - fine > @timeout)
          channel.trouble(e)
          @consumer = nil
          sleep(0.05)
        rescue Unavailable => e
          channel.trouble(e)
        end
      end
    end

    # The thread that fetches is woken by the channel.
    def wake = nil

    # For others, at once, by a moment: what the block answers, which is asked when nothing comes any more.
    def give_back_all(by)
      left = -> { [by - RubyVM::Cluster.now, 0.01].max }
      # Else the server owes nothing.
      ask_no_more(left) if @requested > 0 && @consumer
      yield.each { |token| connection.request_later(token, "-NAK") }
      connection.settle(left.call)
    end

    # Texts by name, in a stream that keeps the last one of each for a day. `list` passes over those that are older than they say that they may become.
    def put(name, text, seconds)
      fits(text)
      before = @large&.delete(name)
      if text.bytesize > connection.largest
        found = stored_parts.room(text.bytesize) == :fine && stored_parts.put(Large.new(text))
        raise Refused, "#{@address.server} has no room for #{text.bytesize} bytes" unless PartsName === found
        (@large ||= {})[name] = found
        text = ""
      end
      store = -> { make_stream(STORE, "zakuro.store.>", retention: "limits", max_msgs_per_subject: 1, max_age: 86_400_000_000_000, discard: "old") }
      @store ||= store.call
      hand(stored(name), text, "NATS/1.0\r\nZakuro-Seconds: #{seconds}\r\n#{found&.header}\r\n", &store)
      stored_parts.forget(before) if before
    end

    # `now`: the server's time; what is older by then than it may become is not there.
    def get(name, now = nil)
      require "json"
      # Between the name and the parts another text may have come.
      3.times do
        message = connection.api("STREAM.MSG.GET.#{STORE}", { last_by_subj: stored(name) })["message"]
        headers = message["hdrs"]&.unpack1("m")
        return if now && (seconds = headers&.[](/^Zakuro-Seconds: (\d+)/, 1)) && now - seconds_of(message["time"]) > seconds.to_i
        found = PartsName.in(headers)
        return message["data"].to_s.unpack1("m") unless found
        text = stored_parts.get(found) and return text
      end
      nil
    rescue NatsConnection::Failure => e
      raise unless [NO_MESSAGE, NO_STREAM].include?(e.number)
    end

    def remove(name)
      before = @large&.delete(name)
      stored_parts.forget(before) if before
      connection.api("STREAM.PURGE.#{STORE}", { filter: stored(name) })
    rescue NatsConnection::Failure => e
      raise unless e.number == NO_STREAM
    end

    # Channels by what follows the beginning of their names, with what `drop` wants.
    def channels(beginning)
      found = connection.api("STREAM.LIST", { subject: "#{beginning}>" })["streams"] || []
      found.filter_map do |stream|
        name, subject = stream["config"]["name"], stream["config"]["subjects"]&.first
        [subject.delete_prefix(beginning), name] if subject&.start_with?(beginning) && name.start_with?("zakuro_") && !subject.end_with?(".dead")
      end.to_h
    end

    # With what stands beside it.
    def drop(stream)
      [stream, "#{stream}_dead", parts_of(stream)].each do |name|
        connection.api("STREAM.DELETE.#{name}")
      rescue NatsConnection::Failure => e
        raise unless e.number == NO_STREAM
      end
    end

    def list(prefix)
      from = stored(prefix)
      state = connection.api("STREAM.INFO.#{STORE}", { subjects_filter: "#{from}*" .sub(/[^.]*\*\z/, ">") })["state"]
      names = (state["subjects"] || {}).keys.select { |subject| subject.start_with?(from) }.map { |subject| subject.byteslice(from.bytesize..) }
      # Who asks has just told that he lives, and so have others: the last text is new.
      now = seconds_of(state["last_ts"])
      names.filter_map { |name| (text = get("#{prefix}#{name}", now)) && [name, text] }.to_h
    rescue NatsConnection::Failure => e
      raise unless e.number == NO_STREAM
      {}
    end

    # What became of a message: [:sent], [:full], [:nobody] (there is no stream), [nil, an error].
    def self.outcome_of(headers, payload, address)
      return :nobody if headers&.start_with?("NATS/1.0 503")
      return :sent unless payload.include?('"error"')
      require "json"
      error = JSON.parse(payload)["error"] or return :sent
      return :full if error["description"].to_s.match?(/maximum (messages|bytes) exceeded/)
      kind = error["err_code"] == ABOVE_THE_STREAMS ? TooLarge : Refused
      [nil, kind.new("#{address.server} refuses: #{error["description"]}")]
    end

    # Calls the block, the second time on with true, until somebody listens at the subject.
    def self.while_nobody(address, subject, timeout)
      by = RubyVM::Cluster.now + timeout
      pause, again = 0.001, false
      while (outcome = yield(again)) == :nobody
        raise Unavailable, "#{address.server} has no stream for #{subject}" if RubyVM::Cluster.now > by
        sleep(pause) if again
        again = true
        pause = [pause * 2, 0.1].min
      end
      outcome
    end

    private

    # Of a time that the server tells, in UTC.
    def seconds_of(time)
      *parts, second = time.to_s.match(/\A(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+(?:\.\d+)?)/)&.captures
      second ? Time.utc(*parts.map(&:to_i), second.to_r).to_f : 0.0
    end

    # To the channel's stream.
    def hand_over(payload, headers, timeout)
      seen do
        hand(@subject, payload, headers, timeout) { return [:closed, nil] if closed_in?(info(timeout)["config"]) }
      end
    end

    # Outcome and what the server said. The block makes the stream again when nobody listens at the subject: the server has lost it, or somebody else makes it now, and the server tells of it before it listens.
    def hand(subject, payload, headers, timeout = @timeout)
      reply = nil
      outcome = NatsQueue.while_nobody(@address, subject, timeout) do |again|
        yield if again
        reply = connection.request(subject, payload, headers, timeout:)
        found, error = outcome_of(*reply)
        error ? raise(error) : found
      end
      [outcome, reply[1]]
    end

    # The parts, then the message that names them. Called again while the channel is full.
    def publish_large(large, id, timeout)
      # Else they would not last.
      abandon(large) if large.name && RubyVM::Cluster.now - large.since > @parts_age / 2.0
      unless large.name
        room = room_for(large)
        return room unless room == :fine
        large.since = RubyVM::Cluster.now
        found = parts.put(large)
        return found if found == :full
      end
      # From here on the server may have it, whatever is heard of that. What is sent again because the connection broke is dropped by its name.
      large.sent = true
      outcome, reply = begin
        hand_over("", headers(id || large.name.id, large.name), timeout)
      rescue Refused, TooLarge, RubyVM::ClosedError
        large.sent = false
        raise
      end
      large.sent = outcome == :sent && !(id && another?(reply, large))
      # A message with the same `id:` is there.
      abandon(large) if outcome == :sent && !large.sent
      outcome
    end

    # Whether the server has dropped it, because of another message: not because it has this one already.
    def another?(reply, large)
      return false unless reply.include?('"duplicate"')
      require "json"
      reply = JSON.parse(reply)
      return false unless reply["duplicate"]
      message = connection.api("STREAM.MSG.GET.#{@stream}", { seq: reply["seq"] })["message"]
      PartsName.in(message["hdrs"]&.unpack1("m"))&.id != large.name.id
    rescue NatsConnection::Failure => e
      raise unless [NO_MESSAGE, NO_STREAM].include?(e.number)
      # It is done, whichever it was.
      true
    end

    # Before anything goes: whether the channel, and the stream of parts, have room.
    def room_for(large)
      found = info
      return :closed if closed_in?(found["config"])
      most = found["config"]["max_msgs"]
      return :full if most > 0 && found["state"]["messages"] >= most
      parts.room(large.bytesize)
    end

    # A channel's name has no "-" there.
    def parts_of(stream) = stream.sub(/\Azakuro_/, "zakuro-parts_")
    def parts = @parts ||= Parts.new(connection, parts_of(@stream), "#{@subject}.parts", age: @parts_age, bound: @parts_bound, timeout: @timeout, making: method(:make))
    # Of all pools.
    def stored_parts = @stored_parts ||= Parts.new(connection, "zakuro-parts", "zakuro.store_parts", age: DAY, bound: nil, timeout: @timeout)

    # Once this has come back, all that the server had sent is here, and it has forgotten what was asked of it: where it still knows of that (2.9 does, until it is over), it loses the first message that is given back until `ack_wait:`.
    def ask_no_more(left)
      inbox = "_INBOX.#{RubyVM::Cluster.random_name}"
      heard = false
      take = connection.unsubscribe(@number)
      connection.subscribe(inbox) do |*message|
        take.call(*message)
        connection.synchronize do
          heard = true
          connection.changed
        end
      end
      # What looks at all that was asked, and is over at once. Something was asked for and has not come: nothing was there a moment ago, so this takes nothing either but what has just come, which is given back with the rest.
      connection.publish("$JS.API.CONSUMER.MSG.NEXT.#{@stream}.#{@consumer}", '{"batch":1,"expires":10000000}', inbox)
      connection.wait_until(left.call) { heard }
    end

    def stored(name) = "zakuro.store.#{@subject}.#{name.tr(":", ".")}"
    # The description is "zakuro MARK" or "closed MARK"; who has made a stream by hand has given it none.
    def closed_in?(config) = config["description"].to_s.match?(/\Aclosed\b/)
    def mark_of(found) = found["config"]["description"].to_s[/\A(?:zakuro|closed) (\h+)\z/, 1]
    def consumer_of(found) = ["zakuro", *mark_of(found)].join("-")

    # What the server tells of the stream, which is made anew if the server has lost it. ClosedError when somebody has deleted it.
    def info(timeout = @timeout)
      raise gone if @deleted
      seen do
        connection.api("STREAM.INFO.#{@stream}", timeout:)
      rescue NatsConnection::Failure => e
        raise unless e.number == NO_STREAM && !@foreign
        was_deleted if @known == connection.generation && !@lasting
        open(timeout)
        connection.api("STREAM.INFO.#{@stream}", timeout:)
      end
    end

    # What the block answers, after which the stream is known in this life of the server: the one that was there before it, if there was one.
    def seen
      before = connection.generation
      found = yield
      @known = before || connection.generation
      found
    end

    def was_deleted
      @deleted = true
      raise gone
    end

    def headers(id, parts = nil) = "NATS/1.0\r\nNats-Msg-Id: #{id}\r\n#{parts&.header}\r\n"
    def id_in(headers) = headers && headers[/^Nats-Msg-Id: *(.*?)\r$/i, 1]

    # $JS.ACK.STREAM.CONSUMER.DELIVERED..., newer servers put two words in front of the stream.
    def attempt(reply)
      words = reply.split(".")
      Integer(words[words.size > 9 ? 6 : 4], 10, exception: false) || 1
    end

    # Its place in the stream and when it came there, which stay the same.
    def number(reply)
      words = reply.split(".")
      words.values_at(*(words.size > 9 ? [7, 9] : [5, 7])).join(".")
    end

    def outcome_of(headers, payload) = NatsQueue.outcome_of(headers, payload, @address)

    def make_stream(name, subject, timeout: @timeout, **options)
      config = { name:, subjects: [subject], retention: "workqueue", storage: "file", discard: "new", max_msgs: @bound || -1 }
      config[:duplicate_window] = (@deduplicate * 1_000_000_000).round if @deduplicate
      tries = 0
      begin
        connection.api("STREAM.CREATE.#{name}", config.merge(options), timeout:)
      rescue NatsConnection::Failure => e
        # Who opened it first has said how it is. While the server still makes that one, it may say of another one that their subjects overlap.
        return true if e.number == NAME_IN_USE
        raise unless e.number == OVERLAP && (tries += 1) < 10
        sleep(0.02)
        retry
      end
      true
    end

    def make_consumer
      found = info
      before, @taken = @taken, [connection.generation, mark_of(found)]
      # Another one in the same life of the server: it was deleted and opened again.
      was_deleted if before && before[0] == @taken[0] && before[1] != @taken[1] && !@lasting
      name = consumer_of(found)
      config = { durable_name: name, ack_policy: "explicit", ack_wait: (@ack_wait * 1_000_000_000).round, max_ack_pending: 100_000, max_deliver: -1 }
      connection.api("CONSUMER.DURABLE.CREATE.#{@stream}.#{name}", { stream_name: @stream, config: })
      @consumer = name
      # The server keeps to what it was made with, whatever this handle was told.
      most = found["config"]["max_msgs"]
      @holds = most if Integer === most && most > 0
    end
  end
  private_constant :NatsConnection, :NatsQueue
end
