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
      @asked = @unsent = @waiting = @taken = 0
      @pause, @ask_at = FIRST, 0.0
    end

    # Waits only while too many are under way. Whether it is, too, by a moment.
    def send(payload, id, by = nil)
      # So that what can be wrong is told.
      return send_first(payload, id, by) unless @begun
      return false unless wait_for(@most, by)
      connection.synchronize do
        raise error if @over
        asks
      end
      ask(payload, id)
      true
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
      unanswered unless @over || wait_for(1, RubyVM::Cluster.now + @timeout) || !@again.empty?
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

    # Until fewer than so many are under way; false when they are not by a moment. Meanwhile what found no room is asked again.
    def wait_for(most, by = nil)
      connection.synchronize { @waiting += 1 }
      while true
        left = by && [by - RubyVM::Cluster.now, 0].max
        unless connection.wait_until([@timeout, left].compact.min) { @over || @refused || !@again.empty? || @asked < most }
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
        connection.wait_until([pause, left].compact.min) { @over || @refused || @asked + @again.size < most }
      end
    ensure
      connection.synchronize { @waiting -= 1 }
    end

    def send_first(payload, id, by)
      pause = FIRST
      until (outcome = @queue.publish(payload, id)) == :sent
        connection.synchronize { no_more("the channel is closed") } if outcome == :closed
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
        message = connection.synchronize { @again.shift&.tap { asks } } or break
        payload, id, outcome = message
        outcome == :unsure ? find_out(payload, id) : ask(payload, id)
      end
      @pause
    end

    # Under the lock. `@heard`: since when somebody waits for an answer.
    def asks
      @heard = RubyVM::Cluster.now if @asked == 0
      @asked += 1
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
      @heard = RubyVM::Cluster.now
      if error
        @refused ||= error
      elsif outcome == :sent
        @taken += 1
      else
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
