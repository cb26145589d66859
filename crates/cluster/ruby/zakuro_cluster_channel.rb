# RubyVM::Channel::Remote: a channel through a server (docs/cluster.md).
module RubyVM::Cluster
  # A message that the server has handed out: what answers are about this time, the sender's name of it, how often it was handed out, its name on the server. `parts`: instead of the payload, where it is.
  Delivery = Struct.new(:token, :id, :attempt, :payload, :name, :parts, :at_work) # :nodoc:
  private_constant :Delivery
end

class RubyVM::Channel
  # Left by a load that was interrupted.
  remove_const(:Remote) if const_defined?(:Remote, false)

  # Opens a channel through a server: `redis://host:port/stream` (a Stream of Redis) or `nats://host:port/subject` (JetStream); `rediss://` and `tls://` with TLS. All who open the same name, on any
  # machine, have the same channel.
  #
  # `bound`: most messages that are not done, then senders wait. `ack:` when a message counts as done: :next, with the next `recv` of the same thread, or at the end of the block of `each`; :receipt, when it
  # is received; :manual, by `ack`. `ack_wait:` seconds after which messages of a receiver that is gone go to others. `prefetch:` how many a receiver has at most that are not done. `tries:` how
  # often a message is handed out before it is set aside. `deduplicate:` seconds in which the server drops a message with an `id:` that it has. `form:` :envelope, :marshal or :bytes. `key:` messages are
  # signed with it, and others are not opened. `window:` how many messages may be under way before `send` waits for the server. `timeout:` seconds that the server may take to answer.
  # With NATS, what the server does not take as one message goes in parts (`parts: false`: it raises TooLarge, as it does with `form:` :marshal and :bytes unless `parts: true` is given): `parts_age:` seconds
  # for which the server keeps them, `parts_bound:` bytes of them that it has at most, then senders wait.
  # `user:`, `password:`, `token:`, `nkey:` (a seed), `credentials:` (the text of a file of NATS' tools), `ca_file:`, `certificate:`, `private_key:`, `verify:` for the server.
  class Remote
    NAME = /\A[^\s\0]{1,200}\z/
    # Seconds after the last call of `recv` or the like in which messages are fetched ahead; after which those that were go back; after which the thread that fetches ends, until somebody asks again.
    AHEAD, IDLE, REST = 0.2, 1.0, 3.0
    # The longest pause of one who polls that is taken note of; for him it goes on fetching for longer than that.
    LONGEST, REST_POLLED = 15.0, 20.0
    # Most messages that the server is told of together; for how long one may wait for others, in seconds.
    TOGETHER, TOLD_AFTER = 32, 0.01
    # How often a message is handed out whose parts are missing, where `tries:` does not say it.
    MISSING = 10
    # No message after all.
    GONE = Object.new
    private_constant :NAME, :AHEAD, :IDLE, :REST, :LONGEST, :REST_POLLED, :TOGETHER, :TOLD_AFTER, :MISSING, :GONE

    # `name`: What it is called on the server.
    attr_reader :name
    # `prefetch`: How many messages this handle has at most that are not done.
    attr_reader :prefetch

    def initialize(url, bound = nil, ack: :next, ack_wait: 30, prefetch: 64, tries: 10, deduplicate: nil, form: :envelope, key: nil, window: nil, timeout: 5, parts: nil, parts_age: 604_800, parts_bound: nil, **server) # :nodoc:
      cluster = RubyVM::Cluster
      raise ArgumentError, "ack: must be :next, :receipt or :manual" unless %i[next receipt manual].include?(ack)
      raise ArgumentError, "form: must be :envelope, :marshal or :bytes" unless %i[envelope marshal bytes].include?(form)
      unknown = server.keys - %i[user password token nkey credentials ca_file certificate private_key verify]
      raise ArgumentError, "unknown keyword#{"s" if unknown.size > 1}: #{unknown.map(&:inspect).join(", ")}" unless unknown.empty?
      server[:key] = server.delete(:private_key) if server.key?(:private_key)
      @address = cluster.const_get(:Address).new(url, **server)
      @name = @address.name
      raise ArgumentError, "the address names no stream: #{@address.server}/NAME" if @name.empty?
      raise ArgumentError, "no name of a stream: #{@name.inspect} (200 characters at most, and no white space)" unless @name.match?(NAME)
      @ack, @form, @tries = ack, form, cluster.positive(tries, "tries")
      @key = cluster.hidden_key(key)
      @bound, @ack_wait = cluster.positive(bound, "bound"), cluster.seconds(ack_wait, "ack_wait")
      @prefetch, @window = cluster.positive(prefetch, "prefetch"), cluster.positive(window, "window")
      @deduplicate, @timeout = cluster.seconds(deduplicate, "deduplicate"), cluster.seconds(timeout, "timeout")
      # Who knows nothing of parts can't read them.
      parts = form == :envelope if parts.nil?
      @parts = { parts: parts ? true : false, parts_age: cluster.seconds(parts_age, "parts_age"), parts_bound: cluster.positive(parts_bound, "parts_bound") }
      prepare
      __open
    end

    # Tells at once what is wrong; then no connection goes on being tried.
    def __open # :nodoc:
      @queue.open(@timeout)
      opened = true
    ensure
      @queue.disconnect unless opened
    end

    # Where it is, without secrets.
    def address = @address.to_s

    # Sends a copy to whoever receives next, and returns the channel when the server has it. Waits while a bounded channel is full; with `timeout:` nil when there was no room in time. `id:` names the message
    # for `deduplicate:`. RubyVM::ClosedError when it is closed, RubyVM::Cluster::Unavailable when the server does not answer in time, RubyVM::Cluster::TooLarge when it takes no message of this size.
    def send(object, timeout: nil, id: nil)
      by = timeout && RubyVM::Cluster.now + Float(timeout)
      payload, id = packed(object, id)
      if String === payload
        return counted(payload) { send_now(payload, id, by) } unless @outgoing
        return counted(payload) { self if @outgoing.send(payload, id, by) }
      end
      # In parts: after all that is under way.
      @outgoing&.flush
      counted(payload) { whole_or_not_at_all(payload) { send_now(payload, id, by) } }
    end
    alias push send

    # What was not sent leaves nothing.
    private def whole_or_not_at_all(large)
      yield
    ensure
      @queue.abandon(large)
    end

    private def send_now(payload, id, by)
      pause = 0.001
      until (outcome = @queue.publish(payload, id)) == :sent
        raise RubyVM::ClosedError, "the channel is closed" if outcome == :closed
        left = by && by - RubyVM::Cluster.now
        return if left && left <= 0
        next if tell_all([@timeout, left].compact.min)
        sleep([pause, left].compact.min)
        pause = [pause * 2, 0.1].min
      end
      self
    rescue RubyVM::Cluster::Unavailable
      # By this program: `disconnect`.
      usable
      raise
    end

    # For reports: a message goes to the server, unless the block answers nil or false.
    private def counted(payload)
      before = @bell.__hand_over
      sent = yield
    ensure
      @bell.__handed_over(before, sent ? payload.bytesize : nil) if before
    end

    # `send` that can be chained.
    def <<(object) = send(object)

    # Sends if there is room. Whether it did.
    def try_send(object, id: nil)
      payload, id = packed(object, id)
      once = -> do
        outcome = @queue.publish(payload, id)
        if outcome == :full && tell_all(@timeout, @queue.settles)
          # Perhaps only as long as the server did not know what is done, or has not made room by that.
          by = RubyVM::Cluster.now + @queue.settles
          while (outcome = @queue.publish(payload, id)) == :full && RubyVM::Cluster.now < by
            sleep(0.001)
          end
        end
        raise RubyVM::ClosedError, "the channel is closed" if outcome == :closed
        outcome == :sent
      end
      counted(payload) { String === payload ? once.call : whole_or_not_at_all(payload, &once) }
    end

    # Waits until the server has all that `send` with a `window:` has under way. Returns the channel.
    #
    # When it was closed, here or elsewhere, before there was room for all of them: RubyVM::ClosedError, which tells how many were not sent.
    def flush
      @outgoing&.flush
      self
    end

    # The next message; waits for one. nil when the channel is closed and all its messages are done, and with `timeout:` when none came in time.
    def recv(timeout: nil)
      usable
      finish_last
      begin_to_fetch
      by = timeout && RubyVM::Cluster.now + timeout
      message = GONE
      receiving do
        while GONE.equal?(message) && wait_for_message(timeout)
          message = take
          timeout = [by - RubyVM::Cluster.now, 0].max if by
        end
      end
      message unless GONE.equal?(message)
    end
    alias receive recv
    alias pop recv
    alias shift recv

    # The next message if one is here, else nil. Does not wait; the first call begins to fetch.
    def try_recv
      usable
      finish_last
      begin_to_fetch
      __poll
      message = GONE
      receiving { message = take while GONE.equal?(message) && @bell.try_recv }
      message unless GONE.equal?(message)
    end

    # Receives until the channel is closed and all its messages are done. A message counts as done when the block has returned; when it raises, the message goes back.
    def each
      return to_enum(:each) unless block_given?
      usable
      finish_last
      begin_to_fetch
      while true
        begin
          there = returned = false
          message = receiving { take(true) if (there = wait_for_message(nil)) }
          break unless there
          next if GONE.equal?(message)
          yield message
          returned = true
        rescue Exception
          reject
          raise
        ensure
          mine&.at_work = false unless returned
        end
        # Not after `break`, nor when this thread is ended: then it stays the last one that was received.
        finish_last
        # The block may have forked.
        usable
        begin_to_fetch
      end
      self
    end

    # The message that this thread received last is done.
    def ack
      delivery = mine or return false
      done(delivery)
      tell_done
      true
    end

    # The message that this thread received last goes back, for others.
    def reject
      delivery = mine or return false
      token = release(delivery)
      @queue.give_back([token], soon: true) if token
      true
    end

    # How often the message that this thread received last was handed out: 1 unless a receiver before this one did not say that it was done.
    def attempt = mine&.attempt

    # No more messages: those that are there can still be received. For all who have the channel, on all machines. Of those that are under way (`window:`) the ones for which there is no room are not sent:
    # then it raises RubyVM::ClosedError, which tells how many, when the channel is closed, unless a thread that waits in `send` or `flush` gets that error.
    def close
      usable
      @outgoing&.close
      @queue.close
      @outgoing&.tell
      self
    end

    # Whether `close` was called, here or elsewhere, or this handle has ended (`disconnect`, `delete`).
    def closed?
      return true if @gone
      usable
      @queue.closed?
    end

    # Messages on the server that are not done.
    def size
      usable
      tell_all(@timeout)
      @queue.size
    end
    alias length size

    # Whether there are none.
    def empty? = size == 0

    # Ends this handle: messages that were fetched and not begun go back, the last ones of its threads count as done (not with `ack: :manual`), the connections end. The channel stays. What is under way
    # (`window:`) and finds no room within `timeout:` of the channel is not sent: then it raises RubyVM::ClosedError, which tells how many messages, when the handle has ended.
    def disconnect
      return self if @gone || @owner != RubyVM.__here
      begin
        @outgoing&.leave
      ensure
        end_handle
      end
      @outgoing&.tell
      self
    end

    private def end_handle
      finish_all unless @ack == :manual
      tell_done
      RubyVM::Cluster.end_all([self])
      @gone = true
      # Who waits for a message gets none.
      @bell.close
      # What was told last is answered before the connection ends.
      @queue.connection.settle(1)
      @queue.disconnect
    end

    # Removes the channel from the server, with all messages. Others who have it, and send or receive, get RubyVM::ClosedError. Who opens it then has a new one.
    def delete
      usable
      @outgoing&.drop
      # Who fetches would make it again.
      synchronize do
        @released = true
        @room.broadcast
      end
      @queue.delete
      end_handle
      self
    end

    # What went through this handle: `:sent`, `:received`, their bytes `:sent_bytes`, `:received_bytes`, `:redelivered` (handed out more than once), `:set_aside`, `:trouble` (the last error of the connection, or nil), `:connects`.
    def stat
      usable
      synchronize { { sent: @sent, received: @received, sent_bytes: @sent_bytes, received_bytes: @received_bytes, redelivered: @redelivered, set_aside: @set_aside, trouble: @trouble&.message, connects: @queue.connection.connects } }
    end

    # Name and server, without secrets.
    def inspect = "#<RubyVM::Channel::Remote #{address}#{" disconnected" if @gone}>"
    alias to_s inspect

    # Handles of the same channel.
    def ==(other) = Remote === other && other.address == address
    alias eql? ==

    # Equal for handles of the same channel.
    def hash = address.hash

    # In another VM it is opened anew. Its secrets travel to VMs of this process, and nowhere else: Marshal refuses them.
    def marshal_dump = [@address, @ack, @form, @tries, @key, @bound, @ack_wait, @prefetch, @window, @deduplicate, @timeout, @parts] # :nodoc:

    def marshal_load(data) # :nodoc:
      @address, @ack, @form, @tries, @key, @bound, @ack_wait, @prefetch, @window, @deduplicate, @timeout, @parts = data
      @name = @address.name
      prepare
    end

    private def initialize_copy(_other)
      raise TypeError, "can't copy RubyVM::Channel::Remote: open it again"
    end

    # When nobody has the handle any more, its connections end: after what is under way, and not by whoever collects, who may be in the middle of it. (At the end of the VM it is still there: what then becomes
    # of it is said elsewhere.)
    def self.__without_handle(handle, queue, outgoing, timeout) # :nodoc:
      here = ObjectSpace::WeakMap.new
      here[handle] = true
      handle = nil
      lambda do |_|
        next unless here.keys.empty? && queue.connected?
        Thread.new do
          Thread.__send__(:__not_counted)
          outgoing&.leave
          queue.connection.settle(timeout)
        rescue RubyVM::Cluster::Error, RubyVM::ClosedError
          # Nobody is there to hear of it.
          nil
        ensure
          queue.disconnect
        end
      end
    end

    # For RubyVM.select: channels of both kinds.
    def self.__select(channels, timeout) # :nodoc:
      bells = channels.map { |c| Remote === c ? c.__bell : c }
      remote = channels.grep(Remote)
      by = timeout && RubyVM::Cluster.now + timeout
      done = false
      while true
        begin
          bell, message = __wanting(remote) { timeout ? RubyVM.select(*bells, timeout:) : RubyVM.select(*bells) }
        rescue RubyVM::ClosedError
          raise remote.filter_map(&:__failed).first || $!
        end
        unless bell
          done = true
          remote.each(&:__poll) if timeout && timeout < AHEAD
          return
        end
        found = channels[bells.index(bell)]
        message = found.__take if Remote === found
        unless GONE.equal?(message)
          done = true
          return [found, message]
        end
        timeout = [by - RubyVM::Cluster.now, 0].max if by
      end
    ensure
      remote&.each(&:__ring_again) unless done
    end

    # Calls the block, while messages of these channels are wanted.
    def self.__wanting(remote) # :nodoc:
      Thread.handle_interrupt(Object => :never) do
        remote.each { |c| c.__want(1) }
        Thread.__send__(:__unmasked) { yield }
      ensure
        remote.each { |c| c.__want(-1) }
      end
    end

    def __bell # :nodoc:
      usable
      finish_last
      begin_to_fetch
      @bell
    end

    def __want(more) # :nodoc:
      synchronize do
        @wanted += more
        @asked = RubyVM::Cluster.now
        @room.signal
      end
      # The thread that fetches may have gone to rest before it saw that.
      begin_to_fetch if more > 0
    end

    # Somebody has asked and not waited, or not for long: one message is fetched for when they ask again.
    def __poll # :nodoc:
      synchronize do
        now = RubyVM::Cluster.now
        @pause = [now - @asked, LONGEST].min if @polled
        @asked = now
        @polled = true
        @room.signal
      end
    end

    # Whether the server has yet to hear of something that is done, or was told of it so many seconds ago.
    def __telling?(ago) # :nodoc:
      @owner == RubyVM.__here && !@gone && (!@to_tell.empty? || !@telling.empty? || RubyVM::Cluster.now - @told < ago)
    end

    # Tells of it, and waits until the server has heard that, for so many seconds.
    def __tell(seconds) # :nodoc:
      tell_done
      @queue.connection.wait_until(seconds) { @telling.empty? }
    end

    def __take = take # :nodoc:

    # An interrupt may have taken a bell and left the message that it rang for. (One too many wakes somebody who then finds nothing.)
    def __ring_again # :nodoc:
      synchronize { (@ready.size - @bell.size).times { @bell << true } }
    rescue RubyVM::ClosedError
      nil
    end

    def __failed = @failed # :nodoc:
    def __queue = @queue # :nodoc:

    # For the thread that fetches.

    def released? = @released # :nodoc:
    # An interrupt (Thread#kill, Thread#raise, Timeout) does not cut it in two. Nothing waits in it, and a thread that is made has the mask as well.
    def synchronize(&) = uninterrupted { @lock.synchronize(&) } # :nodoc:
    def wake = @lock.synchronize { @room.broadcast } # :nodoc:

    # What was handed out here and is not done. What a thread or fiber had that is dead goes to others.
    def tokens # :nodoc:
      left = nil
      found = @lock.synchronize do
        left = @last.select { |receiver, _| !receiver.alive? }
        left.each do |receiver, delivery|
          @last.delete(receiver)
          @held.delete(delivery.name)
        end
        @held.values
      end
      @queue.give_back(left.values.map(&:token)) unless left.empty?
      found
    end

    # What is known here, by name.
    def here = @lock.synchronize { @held.merge(@done) } # :nodoc:
    # Whether it is.
    def has?(name) = @lock.synchronize { @held.key?(name) || @done.key?(name) } # :nodoc:
    def room = @lock.synchronize { wants? ? free : 0 } # :nodoc:
    def holds_nothing? = @lock.synchronize { @held.empty? } # :nodoc:

    # Whether nobody has asked for long, and there is nothing to tell the server: then the thread that fetches is another one when somebody asks. (It would keep the handle from being collected.) The block
    # is asked under the lock.
    def rests? # :nodoc:
      @lock.synchronize do
        return false if @exact || @wanted > 0 || @ending || RubyVM::Cluster.now - @asked < (@polled ? REST_POLLED : REST)
        return false unless @held.empty? && @ready.empty? && @to_tell.empty? && @telling.empty? && (!block_given? || yield)
        @fetcher = nil
        true
      end
    end

    # What was fetched and nobody here asks for goes to others.
    def give_back_idle # :nodoc:
      tell_done
      taken = []
      @lock.synchronize do
        return if @ready.empty? || @wanted > 0 || RubyVM::Cluster.now - @asked < patience
        # Somebody may have been told of the others.
        while !@ready.empty? && @bell.try_recv
          taken << @ready.pop
          @held.delete(taken.last.name)
        end
      end
      @queue.give_back(taken.map(&:token)) unless taken.empty?
    end
    def trouble(error) = @lock.synchronize { @trouble = error } # :nodoc:

    # How many more messages may come; waits for a moment if there is nothing to do.
    def wait_for_room(seconds) # :nodoc:
      @lock.synchronize do
        unless wants? && free > 0 && (!block_given? || yield)
          @room.wait(@lock, seconds)
          return if block_given? && !yield
        end
        wants? ? free : nil
      end
    end

    def deliver(deliveries) # :nodoc:
      bad = again = nil
      count = 0
      return synchronize { deliveries.each { |delivery| @held[delivery.name] = delivery.token } } if @ending
      return aside { @queue.give_back(deliveries.map(&:token)) } if @quiet
      @lock.synchronize do
        deliveries.each do |delivery|
          # Ours already, although the server has lost sight of us, or done: then that is on its way.
          if @held.key?(delivery.name)
            @held[delivery.name] = delivery.token
            next
          end
          if @done.key?(delivery.name)
            (again ||= []) << delivery
            next
          end
          if delivery.payload.nil? || (@tries && delivery.attempt > @tries)
            (bad ||= []) << delivery
            next
          end
          @held[delivery.name] = delivery.token
          @redelivered += 1 if delivery.attempt > 1
          @ready << delivery
          count += 1
        end
      end
      count.times { @bell << true }
      aside { bad.each { |delivery| set_aside(delivery, delivery.payload ? "handed out #{delivery.attempt} times" : "no message of a channel") } } if bad
      return unless again
      @lock.synchronize { again.each { |delivery| @to_tell[delivery.name] = delivery.token } }
      tell_done
    end

    # The VM ends: what is under way is waited for, until a moment.
    def __settle(by) # :nodoc:
      @outgoing&.settle(by) unless @gone || @owner != RubyVM.__here
    rescue RubyVM::Cluster::Error
      nil
    end

    # The VM ends: nothing is received any more, and the thread that fetches gives back what is here, by this moment. Answers the thread, or nil where there is nothing to wait for.
    def end_by(by) # :nodoc:
      return if @gone || @owner != RubyVM.__here || !@fetcher&.alive?
      synchronize do
        @ending, @released = by, true
        @last.clear
        @ready.clear
        @room.broadcast
      end
      @bell.close
      @bell.try_recv && nil until @bell.empty?
      @queue.wake
      @fetcher unless synchronize { @held.empty? && @to_tell.empty? } && !@queue.connection.up?
    end

    # By the thread that fetches, at the end.
    def give_back_all # :nodoc:
      by = @ending or return
      tell_done
      @queue.give_back_all(by) do
        synchronize do
          taken, @held = @held, {}
          taken.values
        end
      end
    rescue RubyVM::Cluster::Error
      # They go to others in time.
      nil
    end

    # Receives no more; what threads have goes on to be theirs.
    def stop # :nodoc:
      waiting = synchronize do
        @quiet = true
        taken, @ready = @ready, []
        taken.each { |delivery| @held.delete(delivery.name) }
      end
      @bell.close
      @bell.try_recv && nil until @bell.empty?
      @queue.give_back(waiting.map(&:token)) unless waiting.empty?
    end

    def ended # :nodoc:
      @bell.close
      @released = true
      @over = true
    end

    private

    # What waits for an answer of the server, and is found out by the thread that reads those.
    def aside
      Thread.new do
        yield
      rescue RubyVM::Cluster::Error => e
        trouble(e)
      end
    end

    # Under the lock: whether messages are fetched, also ahead.
    def wants? = !@quiet && !@released && (@wanted > 0 || RubyVM::Cluster.now - @asked < (@polled ? patience : AHEAD))

    # Under the lock: for how long what is here waits to be asked for: who polls does so again.
    def patience = @polled ? [2 * @pause, IDLE].max : IDLE

    # Under the lock: how many messages may come; several at once, if there is something to go on with. `@exact`: nothing is fetched that no thread waits for.
    def free
      return [@wanted - @ready.size, 0].max if @exact
      most = @ahead > @wanted ? @ahead : @wanted
      most = 1 if most == 0 && @polled
      most = @prefetch if most > @prefetch
      places, left = most - @ready.size, @prefetch - @held.size
      places = left if left < places
      places > 0 && (places * 2 >= most || @ready.empty?) ? places : 0
    end

    # Under the lock: what was handed out counts as a try, begun or not. So who takes a second and more for a message has none fetched ahead, others as many as they have received since such a pause.
    def pace
      now = RubyVM::Cluster.now
      @ahead = now - @paced < IDLE ? [@ahead + 1, @prefetch].min : 0
      @paced = now
    end

    def uninterrupted(&) = Thread.handle_interrupt(Object => :never, &)

    # Whether there is one.
    def wait_for_message(timeout)
      return true if @bell.try_recv
      found = Remote.__wanting([self]) { timeout ? @bell.recv(timeout: timeout) : @bell.recv }
      raise @failed if @failed && !found
      __poll if timeout && timeout < AHEAD && !found && !@over
      found
    end

    def prepare
      cluster = RubyVM::Cluster
      kind = cluster.const_get(@address.nats? ? :NatsQueue : :RedisQueue)
      @wire = cluster.const_get(:Wire)
      @queue = kind.new(@address, bound: @bound, ack_wait: @ack_wait, deduplicate: @deduplicate, timeout: @timeout, **@parts)
      @owner = RubyVM.__here
      @lock = Mutex.new
      @room = ConditionVariable.new
      @bell = RubyVM::Channel.__remote(@address.to_s)
      @ready = []
      # Messages that are not done: tokens by name. And those that are, as long as the server has not heard of it: since when.
      @held, @done = {}, {}
      # Those of them that it was not told of; those that it was told of and has not answered, with true where it has to be told again; and when it was told last.
      @to_tell = {}
      @telling = {}.compare_by_identity
      @tell_again = false
      @told = 0.0
      # Parts of those that are done, which go when the server has heard of it.
      @parted = {}
      # What each thread received last.
      @last = {}.compare_by_identity
      # Threads that wait for a message, and when one was asked for.
      @wanted = @ahead = 0
      @asked = @paced = 0.0
      # Whether the last one did not wait, and the time between the last two that did not: at first that of a patient one.
      @polled = false
      @pause = 5.0
      @sent = @received = @sent_bytes = @received_bytes = @redelivered = @set_aside = 0
      @outgoing = @window && cluster.const_get(:Outgoing).new(@queue, @window, @timeout)
      cluster.at_end(self) if @outgoing
      ObjectSpace.define_finalizer(self, Remote.__without_handle(self, @queue, @outgoing, @timeout))
      @released = @gone = @over = @quiet = false
      @ending = nil
      @fetcher = nil
      @sequence = 0
    end

    # A fork has a copy of its maker's handle: it opens its own.
    def usable
      raise RubyVM::ClosedError, "the channel was disconnected here" if @gone
      return if @owner == RubyVM.__here
      prepare
    end

    def packed(object, id)
      usable
      if id
        id = String(id)
        raise ArgumentError, "id: must be of 1 to 200 visible ASCII characters" unless id.match?(/\A[!-~]{1,200}\z/)
      elsif @deduplicate
        # A message that is sent again because the connection broke is the same one.
        id = "#{@me ||= RubyVM::Cluster.random_name}-#{synchronize { @sequence += 1 }}"
      end
      payload = @queue.prepared(*@wire.in_two(object, @form, @key), id)
      synchronize do
        @sent += 1
        @sent_bytes += payload.bytesize
      end
      [payload, id]
    end

    # The exception may be one of the program's, as those are that its classes raise when a message is opened.
    def words_of(error) = RubyVM::Pool.const_get(:Words).of(error)

    # Begins to fetch.
    def begin_to_fetch
      return if @fetcher || @released
      synchronize do
        return if @fetcher
        RubyVM::Cluster.at_end(self)
        @fetcher = Thread.new do
          Thread.__send__(:__not_counted)
          # Who asked for it has a mask.
          Thread.handle_interrupt(Object => :immediate) do
            @queue.fetch_for(self)
            give_back_all
          end
        rescue Exception => e
          # Whoever waits hears of it.
          @failed = RubyVM::Cluster::Error === e || RubyVM::ClosedError === e ? e : RubyVM::Cluster::Error.new("messages of #{address} can't be fetched: #{words_of(e)}")
          @bell.close
        end
        @fetcher.name = "fetch #{@name}"
      end
    end

    # What the block takes. An interrupt between the bell and the message leaves both here.
    def receiving
      done = false
      message = yield
      done = true
      message
    ensure
      __ring_again unless done
    end

    # The message that the bell rang for. An interrupt, at whatever moment, leaves it here.
    def take(at_work = false)
      delivery = message = nil
      full = took = false
      uninterrupted do
        delivery = next_delivery or return GONE
        error = Thread.__send__(:__attempt) { message = open_delivery(delivery) }
        if GONE.equal?(message) || error
          took = true
          raise error if error
          return GONE
        end
        # What is to come comes now, or when it is received.
        Thread.__send__(:__unmasked) { nil }
        took = true
        delivery.at_work = at_work
        @ack == :receipt ? full = mark_done(delivery) : synchronize { @last[receiver] = delivery }
      ensure
        back(delivery) unless took || delivery.nil? || !@held.key?(delivery.name)
      end
      tell_done if full
      message
    end

    # nil: what was here went back to the server, whose connection had ended.
    def next_delivery
      synchronize do
        raise @failed if @failed
        pace
        @asked = @paced
        @polled = false
        found = @ready.shift or return
        unless found.parts
          @received += 1
          @received_bytes += found.payload.bytesize
        end
        found
      end
    end

    # Its message; GONE when it is not to be had any more.
    def open_delivery(delivery)
      bytes = delivery.payload
      if delivery.parts
        bytes = together(delivery)
        return GONE unless bytes
      end
      @bell.__received(bytes.bytesize)
      error = Thread.handle_interrupt(Object => :never) { Thread.__send__(:__attempt) { return @wire.open(bytes, @form, @key) } }
      set_aside(delivery, words_of(error))
      broken = RubyVM::Cluster::BrokenMessage.new("a message of #{address} can't be opened, and was set aside: #{words_of(error)}")
      broken.id = delivery.token
      raise broken
    end

    # A message that came in parts. nil when some are missing: another receiver has been done with it since, then it goes back to the server, which knows that.
    def together(delivery)
      whole = gone = nil
      begin
        whole = @queue.whole(delivery)
        gone = whole.nil?
      rescue RubyVM::Cluster::Unavailable => e
        # Begun anew: it is still ours.
        gone = back(delivery) or raise
        trouble(e)
        return
      ensure
        # Who was ended in between has received nothing.
        give_back_later(delivery) unless whole || gone
      end
      if whole
        synchronize do
          @received += 1
          @received_bytes += whole.bytesize
        end
      elsif @exact
        # A job of a pool: it was done, or it is sent again.
        done(delivery)
      else
        delivery.attempt < (@tries || MISSING) ? give_back_later(delivery) : set_aside(delivery, "its parts are not there: they were too old, or another receiver was done with it")
      end
      whole
    end

    # To the head of what is here. Whether it may be.
    def back(delivery)
      synchronize do
        return if @quiet || @released || @gone
        @ready.unshift(delivery)
      end
      @bell << true
      true
    rescue RubyVM::ClosedError
      # In between; then it was given back with what was here.
      true
    end

    def give_back_later(delivery)
      token = release(delivery)
      @queue.give_back_later(token) if token
    rescue RubyVM::Cluster::Error
      # It goes to others in time.
      nil
    end

    # Who has a message until it is done: a thread; where a scheduler runs several fibers of one, a fiber.
    def receiver = Fiber.scheduler ? Fiber.current : Thread.current

    # What this one received last. (Of what the parent had, a fork has nothing.)
    def mine = @owner == RubyVM.__here ? synchronize { @last[receiver] } : nil

    # With `ack: :next`: the message before is done.
    def finish_last
      return if @ack == :manual
      delivery = mine
      done(delivery) if delivery
    end

    # But for what a block of `each` is at, and what this thread had when an exception or a kill ended what it did: that goes back.
    def finish_all
      me = receiver if $! || Thread.current.status == "aborting"
      synchronize { @last.reject { |who, delivery| delivery.at_work || who.equal?(me) }.values }.each { |delivery| done(delivery) }
    end

    # Tells the server of several at once, so that who takes many in little time does not tell of each: when nothing else is here to be received, when a while has gone by since it was told last, and each
    # second. Of a channel that holds few, of no more than a part of those.
    def done(delivery)
      tell_done if mark_done(delivery)
    end

    # Whether the server should hear of it now.
    def mark_done(delivery)
      full = false
      token = release(delivery) do |t|
        @done[delivery.name] = RubyVM::Cluster.now
        @to_tell[delivery.name] = t
        @parted[delivery.name] = delivery.parts if delivery.parts
        full = @to_tell.size >= (@together ||= [TOGETHER, ((@queue.holds || @bound || 4 * TOGETHER) / 4)].min) || RubyVM::Cluster.now - @told > TOLD_AFTER
      end
      token && (full || @ready.empty?)
    end

    # An interrupt comes before or afterwards: what is done and nobody tells of would come again, late.
    def tell_done
      uninterrupted do
        told, parts = @lock.synchronize do
          now = RubyVM::Cluster.now
          if @tell_again
            @tell_again = false
            # After `ack_wait:` they have gone to others.
            @telling.select { |_, again| again }.each_key do |taken|
              @telling.delete(taken)
              taken.each { |name, token| @to_tell[name] ||= token if (since = @done[name]) && now - since < @ack_wait }
            end
          end
          return if @to_tell.empty?
          taken, @to_tell = @to_tell, {}
          @told = now
          @telling[taken] = false
          [taken, taken.keys.filter_map { |name| @parted.delete(name) }]
        end
        asked = false
        @queue.acknowledge(told.values, parts) do |error, again|
          told.each_key { |name| @done.delete(name) } unless error || again
          # Soon, by the thread that fetches.
          again ? @tell_again = @telling[told] = true : @telling.delete(told)
          @queue.connection.changed
        end
        asked = true
      ensure
        @telling.delete(told) unless asked || told.nil?
      end
    end

    # Has the server hear of all that is done here, by this handle and others of the channel that this VM has; waits for that, for so long. Whether there was something, by now or some seconds ago.
    def tell_all(seconds, ago = 0)
      found = RubyVM::Cluster.fetching.select { |one| one == self && one.__telling?(ago) }
      found.each { |one| one.__tell(seconds) }
      found.any?
    end

    # The token by which it was held.
    def release(delivery)
      synchronize do
        @last.delete(receiver) if @last[receiver].equal?(delivery)
        found = @held.delete(delivery.name)
        yield found if found && block_given?
        @room.signal
        found
      end
    end

    def set_aside(delivery, why)
      synchronize { @set_aside += 1 }
      @queue.set_aside(delivery, why)
    ensure
      release(delivery)
    end
  end
end
