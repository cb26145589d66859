# Messages of a channel with a `window:`, for whose answers their senders do not wait (docs/cluster.md).
module RubyVM::Cluster
  # All of it is under the connection's lock, which whoever hears an answer has: `@asked` counts the messages that the server has not answered for, `@again` has those that found no room and what was sent
  # after these, in the order in which they were sent, and `@unsent` counts those that never will, because the channel was closed, or its handle ended (`@over` says which).
  #
  # Interrupts of senders (Thread#raise, a kill, Timeout) come where they wait, and before a message is counted: else one would stay counted that nobody asks for.
  class Outgoing # :nodoc:
    # Between two attempts to find room, in seconds.
    FIRST, LONGEST = 0.001, 0.1
    # `number`: in the order of sending. `outcome`: what the server said last.
    Message = Struct.new(:payload, :id, :number, :outcome)
    private_constant :FIRST, :LONGEST, :Message

    # `most`: how many may be under way. `timeout`: seconds that the server may take to answer.
    def initialize(queue, most, timeout)
      @queue, @most, @timeout = queue, most, timeout
      @again = []
      @asked = @unsent = @waiting = @taken = 0
      @number, @pause, @ask_at = 0, FIRST, 0.0
      @pusher = nil
    end

    # Waits only while too many are under way. Whether it is, too, by a moment.
    def send(payload, id, by = nil)
      # So that what can be wrong is told.
      return send_first(payload, id, by) unless @begun
      uninterrupted do
        return false unless wait_for(@most, by)
        message = connection.synchronize do
          raise error if @over
          one = Message.new(payload, id, @number += 1, :full)
          next asks(one) if @again.empty?
          later(one)
          nil
        end
        ask(message) if message
      end
      true
    end

    # Waits until the server has all of them.
    def flush
      uninterrupted { wait_for(1) }
    rescue RubyVM::ClosedError
      # All have arrived before.
      raise if @unsent > 0
    end

    # No more is sent; returns when all is answered that was asked.
    def close(over = "the channel is closed")
      uninterrupted do
        connection.synchronize do
          # These get the error.
          @told = true if !@over && @waiting > 0
          no_more(over)
        end
        answered
      end
    end

    # Waits for room, as long as for an answer, and then for nothing any more.
    def leave
      unanswered unless @over || uninterrupted { wait_for(1, RubyVM::Cluster.now + @timeout) } || !@again.empty?
      close("the channel was disconnected here")
    end

    # The VM ends: waits until a moment for the answers to what was asked.
    def settle(by)
      connection.wait_until([by - RubyVM::Cluster.now, 0].max) { @asked == 0 }
    end

    # The channel is about to be removed, with all that was sent.
    def drop
      @told = true
      uninterrupted { connection.synchronize { no_more("the channel was deleted") } }
    end

    # ClosedError for what was not sent, unless somebody has got it.
    def tell
      raise error if @unsent > 0 && !@told
    end

    private

    def connection = @queue.connection
    def uninterrupted(&) = Thread.handle_interrupt(Object => :never, &)
    # Within that: here interrupts come.
    def unmasked(&) = Thread.__send__(:__unmasked, &)

    # Until fewer than so many are under way; false when they are not by a moment. Meanwhile what found no room is asked again. Uninterrupted, but for its waits.
    def wait_for(most, by = nil)
      connection.synchronize { @waiting += 1 }
      begin
        while true
          left = by && [by - RubyVM::Cluster.now, 0].max
          unless moves?(most) || wait([@timeout, left].compact.min) { moves?(most) }
            return false if left && left < @timeout
            unanswered
          end
          if @over
            answered
            raise error
          end
          refused, @refused = @refused, nil
          raise RubyVM::Cluster.again(refused), cause: refused.cause if refused
          unanswered if @asked > 0 && RubyVM::Cluster.now - @heard > @timeout
          pause = ask_again
          return true if @asked + @again.size < most
          return false if left && left <= 0
          wait([pause, left].compact.min) { @over || @refused || @asked + @again.size < most }
        end
      ensure
        connection.synchronize do
          @waiting -= 1
          push_on
        end
      end
    end

    # Whether there is something to do but to wait for answers.
    def moves?(most) = @over || @refused || !@again.empty? || @asked < most

    def wait(seconds, &) = unmasked { connection.wait_until(seconds, &) }

    # Under the lock: while no sender waits, a thread asks again for what found no room.
    def push_on
      return if @pusher || @waiting > 0 || @over || @again.empty?
      @pusher = Thread.new { Thread.handle_interrupt(Object => :never) { push } }
      @pusher.name = "send #{@queue.address.name}"
    rescue ThreadError
      # No more threads: it stays for who sends next. Who hears answers must not end by it.
      nil
    end

    def push
      Thread.__send__(:__not_counted)
      while true
        connection.synchronize do
          unless @waiting == 0 && !@over && !@refused && !@again.empty?
            @pusher = nil
            return
          end
        end
        pause = ask_again
        wait(pause) { @over || @refused || @waiting > 0 }
      end
    rescue Error => e
      # For whoever sends next.
      connection.synchronize { @refused ||= e }
    ensure
      connection.synchronize { @pusher = nil if @pusher.equal?(Thread.current) }
    end

    def send_first(payload, id, by)
      pause = FIRST
      until (outcome = @queue.publish(payload, id)) == :sent
        uninterrupted { connection.synchronize { no_more("the channel is closed") } } if outcome == :closed
        left = by && by - RubyVM::Cluster.now
        return false if left && left <= 0
        connection.wait_until([pause, left].compact.min) { @over }
        raise error if @over
        pause = [pause * 2, LONGEST].min
      end
      @begun = true
    end

    # Of those that found no room by now, oldest first: one more than found it since the last time, and soon again if some did. Answers how long to wait, in seconds.
    def ask_again
      now = RubyVM::Cluster.now
      return [@ask_at - now, FIRST].max if @again.empty? || now < @ask_at
      found, @taken = @taken, 0
      @pause = found > 0 ? FIRST : [@pause * 2, LONGEST].min
      @ask_at = now + @pause
      [found + 1, @again.size].min.times do
        message = connection.synchronize { (one = @again.shift) && asks(one) } or break
        message.outcome == :unsure ? find_out(message) : ask(message)
      end
      @pause
    end

    # Under the lock. `@heard`: since when somebody waits for an answer.
    def asks(message)
      @heard = RubyVM::Cluster.now if @asked == 0
      @asked += 1
      message
    end

    # Under the lock.
    def later(message)
      place = @again.bsearch_index { |one| one.number > message.number }
      place ? @again.insert(place, message) : @again << message
    end

    def ask(message)
      @queue.publish_later(message.payload, message.id) { |outcome, error| answer(message, outcome, error) }
    rescue Error
      connection.synchronize { @asked -= 1 }
      raise
    end

    # Waits: the stream has to be made anew, perhaps, or was deleted.
    def find_out(message)
      outcome, error, over = :unsure, nil, "the channel is closed"
      outcome = unmasked { @queue.publish(message.payload, message.id) }
    rescue RubyVM::ClosedError => e
      outcome, over = :closed, e.message
    rescue Unavailable
      raise
    rescue Error => e
      error = e
    ensure
      connection.synchronize { answer(message, outcome, error, over) }
    end

    # Under the lock.
    def answer(message, outcome, error, over = "the channel is closed")
      @asked -= 1
      @heard = RubyVM::Cluster.now
      if error
        @refused ||= error
      elsif outcome == :sent
        @taken += 1
      else
        message.outcome = outcome
        later(message)
        @over || outcome == :closed ? no_more(over) : push_on
      end
      connection.changed
    end

    # Under the lock.
    def no_more(over)
      @over ||= over
      @unsent += @again.size
      @again.clear
      connection.changed
    end

    # Waits for what was asked.
    def answered
      unanswered unless wait(@timeout) { @asked == 0 }
    end

    def unanswered
      raise Unavailable, "no answer from #{@queue.address.server} in #{@timeout} s; #{@asked + @again.size} messages may not have arrived"
    end

    def error
      @told = true
      unsent = @unsent == 1 ? ": 1 message that was under way was not sent" : ": #{@unsent} messages that were under way were not sent" if @unsent > 0
      RubyVM::ClosedError.new("#{@over}#{unsent}")
    end
  end
  private_constant :Outgoing
end
