# Messages of a channel with a `window:`, for whose answers their senders do not wait (docs/cluster.md).
module RubyVM::Cluster
  # All of it is under the connection's lock, which whoever hears an answer has: `@asked` counts the messages that the server has not answered for, `@again` has those that found no room, and `@unsent`
  # counts those that never will, because the channel was closed, or its handle ended (`@over` says which).
  class Outgoing # :nodoc:
    # Between two attempts to find room, in seconds.
    FIRST, LONGEST = 0.001, 0.1
    private_constant :FIRST, :LONGEST

    # `most`: how many may be under way. `timeout`: seconds that the server may take to answer.
    def initialize(queue, most, timeout)
      @queue, @most, @timeout = queue, most, timeout
      @again = []
      @asked = @unsent = @waiting = 0
    end

    # Waits only while too many are under way.
    def send(payload, id)
      # So that what can be wrong is told.
      return send_first(payload, id) unless @begun
      wait_for(@most)
      connection.synchronize do
        raise error if @over
        @asked += 1
      end
      ask(payload, id)
      nil
    end

    # Waits until the server has all of them.
    def flush
      wait_for(1)
    rescue RubyVM::ClosedError
      # All have arrived before.
      raise if @unsent > 0
    end

    # No more is sent; returns when all is answered that was asked.
    def close(over = "the channel is closed")
      connection.synchronize do
        # These get the error.
        @told = true if !@over && @waiting > 0
        no_more(over)
      end
      answered
    end

    # Waits for room, as long as for an answer, and then for nothing any more.
    def leave
      wait_for(1, RubyVM::Cluster.now + @timeout) unless @over
      close("the channel was disconnected here")
    end

    # The channel is about to be removed, with all that was sent.
    def drop
      @told = true
      connection.synchronize { no_more("the channel was deleted") }
    end

    # ClosedError for what was not sent, unless somebody has got it.
    def tell
      raise error if @unsent > 0 && !@told
    end

    private

    def connection = @queue.connection

    # Until fewer than so many are under way, or until a moment. Meanwhile what found no room is asked again.
    def wait_for(most, by = nil)
      connection.synchronize { @waiting += 1 }
      pause = FIRST
      while true
        unanswered unless connection.wait_until(@timeout) { @over || @refused || !@again.empty? || @asked < most }
        if @over
          answered
          raise error
        end
        refused, @refused = @refused, nil
        raise RubyVM::Cluster.again(refused), cause: refused.cause if refused
        return if @again.empty? || (by && RubyVM::Cluster.now > by)
        connection.wait_until(pause) { @over }
        pause = [pause * 2, LONGEST].min
        ask_again
      end
    ensure
      connection.synchronize { @waiting -= 1 }
    end

    def send_first(payload, id)
      pause = FIRST
      until (outcome = @queue.publish(payload, id)) == :sent
        connection.synchronize { no_more("the channel is closed") } if outcome == :closed
        connection.wait_until(pause) { @over }
        raise error if @over
        pause = [pause * 2, LONGEST].min
      end
      @begun = true
      nil
    end

    # All that found no room by now.
    def ask_again
      @again.size.times do
        message = connection.synchronize { @again.shift&.tap { @asked += 1 } } or return
        payload, id, outcome = message
        outcome == :unsure ? find_out(payload, id) : ask(payload, id)
      end
    end

    def ask(payload, id)
      @queue.publish_later(payload, id) { |outcome, error| answer(payload, id, outcome, error) }
    rescue Error
      connection.synchronize { @asked -= 1 }
      raise
    end

    # Waits: the stream has to be made anew, perhaps, or was deleted.
    def find_out(payload, id)
      outcome = @queue.publish(payload, id)
      connection.synchronize { answer(payload, id, outcome, nil) }
    rescue RubyVM::ClosedError => e
      connection.synchronize { answer(payload, id, :closed, nil, e.message) }
    rescue Unavailable
      connection.synchronize { answer(payload, id, :unsure, nil) }
      raise
    rescue Error => e
      connection.synchronize { answer(payload, id, nil, e) }
    end

    # Under the lock.
    def answer(payload, id, outcome, error, over = "the channel is closed")
      @asked -= 1
      if error
        @refused ||= error
      elsif outcome != :sent
        @again << [payload, id, outcome]
        no_more(over) if @over || outcome == :closed
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
      unanswered unless connection.wait_until(@timeout) { @asked == 0 }
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
