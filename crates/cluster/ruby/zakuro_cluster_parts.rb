# Messages of more than a NATS server takes at once (docs/cluster.md): each part is a message of a stream beside the channel's, and a small one in the channel names them.
#
# The small message goes when the server has all parts, so whoever has it can read them, as often as it is handed out. They are removed with the word that it is done, or when the server has said that it
# never was taken; what a sender that was killed leaves, the server removes at the stream's maximum age. Parts of a message that the server may have taken are never removed by its sender: a message
# without parts would be lost, parts without a message only take room for a while.
module RubyVM::Cluster
  # Which parts: a name, how many, bytes of all of them.
  PartsName = Struct.new(:id, :count, :size) do # :nodoc:
    # As a header of the small message.
    def header = "Zakuro-Parts: #{id} #{count} #{size}\r\n"

    # nil where there is none, false where it says what is not known here.
    def self.in(headers)
      return unless headers&.match?(/^Zakuro-Parts:/i)
      id, count, size = headers.match(/^Zakuro-Parts: (\h{8,64}) (\d{1,9}) (\d{1,9})\r$/i)&.captures
      count, size = count.to_i, size.to_i
      size.between?(1, Parts::MOST) && count.between?(1, size) && new(id, count, size)
    end
  end

  # A message that goes in parts, on its way to the server. `name`: that of the parts, once they are there; `since`: when they began to be. `sent`: the server may have the message that names them.
  class Large # :nodoc:
    attr_accessor :name, :since, :sent

    # `head`: what comes before the content.
    def initialize(content, head = nil)
      @content, @head = content, head
      @before = head ? head.bytesize : 0
    end

    def bytesize = @before + @content.bytesize

    # Part of this number, when each has so many bytes.
    def part(number, size)
      return @content.byteslice(number * size - @before, size) if @before == 0 || number > 0
      size > @before ? @head + @content.byteslice(0, size - @before) : raise(TooLarge, "the server takes no more than #{size} bytes")
    end
  end

  # The stream of parts.
  class Parts # :nodoc:
    # Most bytes of a whole message: what is sent, and what is opened.
    MOST = 512 << 20
    # Bytes of a part, and how many parts are under way at once. Small ones, so that others' messages on the same connection get their turn.
    PART, AHEAD = 256 << 10, 8
    # What a server adds to a part in its files, or less.
    BESIDE = 256

    # `age`: seconds, `bound`: bytes. `making`: what calls its block where the stream is to be made.
    def initialize(connection, stream, subject, age:, bound:, timeout:, making: ->(&make) { make.call })
      @connection, @stream, @subject, @age, @bound, @timeout, @making = connection, stream, subject, age, bound, timeout, making
    end

    # :full when there is no room for so many bytes. TooLarge when there never is.
    def room(size)
      found = begin
        @connection.api("STREAM.INFO.#{@stream}")
      rescue NatsConnection::Failure => e
        raise unless e.number == NatsQueue::NO_STREAM
        make
      end
      most = found["config"]["max_bytes"]
      return :fine unless Integer === most && most > 0
      size += (size / PART + 1) * BESIDE
      raise TooLarge.of(size, most, @connection.address.server) if size > most
      found["state"]["bytes"] + size > most ? :full : :fine
    end

    # The name of the parts when the server has all of them, :full when it does not take them.
    def put(large)
      largest = [PART, @connection.largest].min
      NatsQueue.while_nobody(@connection.address, @subject, @timeout) do |again|
        make if again
        put_all(large, PartsName.new(RubyVM::Cluster.random_name, (large.bytesize + largest - 1) / largest, large.bytesize), largest)
      end
    end

    # All of them, put together; nil when one is missing.
    def get(name)
      whole = nil
      question = if direct?
        ->(i) { ["$JS.API.DIRECT.GET.#{@stream}.#{subject(name, i)}", ""] }
      else
        ->(i) { ["$JS.API.STREAM.MSG.GET.#{@stream}", %({"last_by_subj":"#{subject(name, i)}"})] }
      end
      @connection.one_after_the_other(name.count, AHEAD, question) do |headers, reply|
        # Whatever else the server says: it is not there.
        part = @direct ? directly(headers, reply) : from_json(reply)
        return unless part
        # No more than was said, and nothing is set apart for what nobody has seen a part of. A String that grows would be copied, again and again.
        whole ||= String.new(capacity: [name.size, name.count * part.bytesize].min)
        return if whole.bytesize + part.bytesize > name.size
        whole << part
        # Each is large: at once, not when it is collected.
        part.clear
      end
      whole if whole && whole.bytesize == name.size
    rescue NatsConnection::Failure => e
      raise unless e.number == NatsQueue::NO_STREAM
    rescue Unavailable
      # A stream that is gone does not answer.
      @direct = nil
      raise
    end

    # Removes them, without waiting for it. Where that can't be, they go in time.
    def forget(name)
      @connection.request_later(*removal(name))
    rescue Error
      nil
    end

    # The same, under the connection's lock.
    def forget_within(name) = @connection.request_within(*removal(name))

    private

    # `name`, or what became of a part that was not sent.
    def put_all(large, name, largest)
      @connection.one_after_the_other(name.count, AHEAD, ->(i) { [subject(name, i), large.part(i, largest)] }) do |headers, reply|
        outcome, error = NatsQueue.outcome_of(headers, reply, @connection.address)
        raise error if error
        return outcome unless outcome == :sent
      end
      # From here on it is for who has the message to remove them.
      large.name = name
    ensure
      forget(name) unless large.name
    end

    def subject(name, part) = "#{@subject}.#{name.id}.#{part}"
    def removal(name) = ["$JS.API.STREAM.PURGE.#{@stream}", %({"filter":"#{subject(name, "*")}"})]

    def make
      # `new`: others' parts never make room.
      config = { name: @stream, subjects: ["#{@subject}.>"], retention: "limits", storage: "file", discard: "new", max_msgs_per_subject: 1, max_bytes: @bound || -1, max_age: (@age * 1_000_000_000).round, allow_direct: true }
      @making.call { @connection.api("STREAM.CREATE.#{@stream}", config) }
    rescue NatsConnection::Failure => e
      # Somebody else was faster, and has said how it is.
      raise unless e.number == NatsQueue::NAME_IN_USE
      @connection.api("STREAM.INFO.#{@stream}")
    end

    # Servers from 2.9 on answer with a part as it is; who is asked for what it does not know says nothing.
    def direct?
      @direct = @connection.api("STREAM.INFO.#{@stream}")["config"]["allow_direct"] == true if @direct.nil?
      @direct
    end

    def directly(headers, reply)
      reply unless headers&.match?(/\ANATS\/1\.0 +\d/)
    end

    def from_json(reply)
      require "json"
      JSON.parse(reply)["message"]&.fetch("data", "")&.unpack1("m")
    end
  end
  private_constant :PartsName, :Large, :Parts
end
