# Channels over a server between machines (docs/cluster.md). RubyVM::Channel.open loads it.
module RubyVM::Cluster
  class Error < RubyVM::Error; end

  # The server could not be reached, or did not answer, in time.
  class Unavailable < Error; end

  # The server was reached and said no: to who asks (`-NOAUTH`, `Authorization Violation`), or to what it was asked.
  class Refused < Error; end

  # The server takes no message of this size. Nothing was sent, and the connection goes on.
  class TooLarge < Error
    # `size`: How many bytes it has.
    attr_reader :size
    # `limit`: How many bytes the server takes at most.
    attr_reader :limit

    def self.of(size, limit, server) = new("the message has #{size} bytes; #{server} takes at most #{limit}").__of(size, limit) # :nodoc:

    def __of(size, limit) # :nodoc:
      @size, @limit = size, limit
      self
    end
  end

  # The server sent what is not its protocol.
  class ProtocolError < Error; end

  # A message is not signed with the channel's key.
  class Unsigned < Error; end

  # A message came that could not be opened. It was set aside on the server and does not come again; `cause` tells why, `id` is the message's.
  class BrokenMessage < Error
    # `id`: The server's name of the message.
    attr_accessor :id
  end

  # What `hide` gave: a text that nothing shows.
  class Secret
    # Nothing of the text.
    def inspect = "#<RubyVM::Cluster::Secret>"
    alias to_s inspect
  end

  # Seconds that a VM which ends waits for its servers, all in all.
  END_WITHIN = 1.0
  private_constant :Native, :Secret, :END_WITHIN

  class << self
    # Seconds of a clock that only goes forwards.
    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC) # :nodoc:

    # A number of seconds, or nil.
    def seconds(value, name) # :nodoc:
      return if value.nil?
      raise TypeError, "#{name} must be a number of seconds, not #{value.class}" unless Numeric === value
      raise ArgumentError, "#{name} must be positive" unless value > 0
      value
    end

    # A key for signatures, where nobody sees it; nil for none. What is hidden already stays as it is.
    def hidden_key(key) # :nodoc:
      return key if key.nil? || Secret === key
      key = String(key)
      # Anybody could sign with that.
      raise ArgumentError, "key: is empty" if key.empty?
      Native.hide(key)
    end

    # A positive Integer, or nil.
    def positive(value, name) # :nodoc:
      return if value.nil?
      value = Integer(value)
      raise ArgumentError, "#{name} must be positive" unless value > 0
      value
    end

    # A channel of this VM that fetches, or sends with a window: what it has under way is waited for, and what it has goes to others when the VM ends, after its `at_exit` blocks, if the server hears of it within END_WITHIN; else later, when it has not heard of this VM for `ack_wait:`.
    def at_end(channel) # :nodoc:
      here = RubyVM.__here
      unless @ends&.first == here
        fetching = ObjectSpace::WeakMap.new
        @ends = [here, fetching]
        RubyVM.__at_end do
          # The connections of a process that was forked are its parent's.
          next unless RubyVM.__here == here
          fetching.keys.each { |one| one.__settle(ending_by) }
          end_all(fetching.keys, ending_by)
        end
      end
      @ends[1][channel] = true
    end

    # Channels of this VM that fetch, or have done so.
    def fetching = @ends&.first == RubyVM.__here ? @ends[1].keys : [] # :nodoc:

    # The moment until which this VM, which ends, waits for its servers.
    def ending_by # :nodoc:
      @ending = [RubyVM.__here, now + END_WITHIN] unless @ending&.first == RubyVM.__here
      @ending[1]
    end

    # These channels receive no more, and what they have goes to others. The limit is one for all of them.
    def end_all(channels, by = now + END_WITHIN) # :nodoc:
      ending = channels.filter_map { |one| (thread = one.end_by(by)) && [one, thread] }
      until (ending = ending.reject { |_, thread| thread.join(ending.size == 1 ? 0.05 : 0.01) }).empty? || now > by
        # Who was about to ask the server for more.
        ending.each { |one, _| one.__queue.wake }
      end
    end

    # An error that another thread has met, for whoever asks: with the place where he does.
    def again(error) # :nodoc:
      error.dup.tap { |one| one.set_backtrace(caller_locations(1)) }
    end

    # Not to be guessed, and a part of a name.
    def random_name = Random.urandom(9).unpack1("H*") # :nodoc:
  end
end

require "zakuro/cluster/address"
require "zakuro/cluster/connection"
require "zakuro/cluster/redis"
require "zakuro/cluster/nats"
require "zakuro/cluster/parts"
require "zakuro/cluster/wire"
require "zakuro/cluster/outgoing"
require "zakuro/cluster/channel"
