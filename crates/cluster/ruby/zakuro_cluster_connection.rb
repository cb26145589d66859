# A connection to a server, made again when it breaks (docs/cluster.md). A thread of this VM reads it; whoever asks waits for the answer as threads of a VM wait, and a kill ends that.
module RubyVM::Cluster
  # What was asked, from then until it is answered. `size`: what counts for the server's limit.
  class Request # :nodoc:
    attr_reader :bytes, :size, :reply, :error
    attr_accessor :sent

    def initialize(bytes, size, heard = nil)
      @bytes, @size, @heard = bytes, size, heard
      @done = false
    end

    def done? = @done

    # Under the connection's lock.
    def answer(reply, error = nil)
      return if @done
      @reply, @error, @done = reply, error, true
      heard, @heard = @heard, nil
      heard&.call(reply, error)
      @changed&.broadcast
      # Nobody sends it again.
      @bytes.clear if @bytes.bytesize > Connection::PIECE
    end

    def wait(lock, left)
      @changed ||= ConditionVariable.new
      @changed.wait(lock, left)
    end
  end

  # What both kinds of servers have in common: subclasses say how to greet (`greet`), and what is read (`take`).
  class Connection # :nodoc:
    PIECE = 64 << 10
    # Between two attempts to connect, in seconds; each waits up to twice as long as the one before.
    FIRST, LONGEST = 0.05, 2.0
    CONNECT = 5.0

    # `largest`: most bytes of a message, as long as there was a connection.
    attr_reader :address, :connects, :largest

    def initialize(address, timeout)
      @address, @timeout = address, timeout
      @lock = Mutex.new
      @changed = ConditionVariable.new
      # Sent, or to be sent when there is a connection; by name, oldest first.
      @pending = {}
      @names = 0
      # What nobody has written yet, and whether somebody writes. The lock is free meanwhile, else a server that does not read before it is read would hold up all.
      @outbox = String.new
      @writing = false
      @connects = 0
      # Which of the servers; the next one when this one is gone.
      @place = 0
      @closed = false
      @owner = RubyVM.__here
      # (Whoever makes it may have a mask.)
      @thread = Thread.new { Thread.handle_interrupt(Object => :immediate) { run } }
      @thread.name = "#{address.scheme} #{address.host}"
      @thread.report_on_exception = false
    end

    # In a fork its thread is not there.
    def here? = @owner == RubyVM.__here && !@closed

    # Waits for an answer. Unavailable when there is none in time.
    def call(bytes, timeout = @timeout, size: 0)
      ask(locked { new_name }, bytes, size, timeout)
    end

    # Does not wait for the answer, which the block hears under the connection's lock.
    def tell(bytes, size: 0, &heard)
      fits(size)
      locked { enqueue(new_name, Request.new(bytes, size, heard)) }
      flush
    end

    # What the block asks, under the lock, is written as one piece.
    def together(&)
      locked(&)
      flush
    end

    # TooLarge when the server takes nothing of this size: it would end the connection, again and again. Before the first connection nobody knows.
    def fits(size)
      raise TooLarge.of(size, @largest, @address.server) if @largest && size > @largest
    end

    # Writes something that has no answer; if there is no connection, it is lost.
    def say(bytes)
      locked do
        return unless @ready
        @outbox << bytes
      end
      flush
    end

    # Nobody waits longer than until this moment for what is asked from now on.
    def hurry(by) = @by = by

    # Who waits for an answer goes on without one, which is nobody's when it comes.
    def interrupt
      @lock.synchronize { @pending.each_value { |request| request.answer(nil) } }
    end

    # Whether there is a connection now.
    def up? = @ready

    # Waits until the block is true, which is asked under the lock whenever something was heard.
    def wait_until(timeout = @timeout)
      by = by(timeout)
      @lock.synchronize do
        until yield
          refuse_again
          left = by - RubyVM::Cluster.now
          return false if left <= 0
          @changed.wait(@lock, left)
        end
      end
      true
    end

    def synchronize(&) = @lock.synchronize(&)
    def changed = @changed.broadcast

    # Waits until all that was asked is answered, for so long.
    def settle(timeout)
      by = by(timeout)
      @lock.synchronize do
        while (request = @pending.each_value.find { |one| !one.done? })
          left = by - RubyVM::Cluster.now
          return false if left <= 0
          request.wait(@lock, left)
        end
      end
      true
    end

    def close
      return unless @owner == RubyVM.__here
      @lock.synchronize do
        return if @closed
        @closed = true
        fail_all(Unavailable.new("the connection to #{@address.server} was closed"))
      end
      shut
      @thread.kill unless Thread.current == @thread
      nil
    end

    def inspect = "#<#{self.class} #{@address.server}#{" closed" if @closed}>"

    private

    def uninterrupted(&) = Thread.handle_interrupt(Object => :never, &)

    # What no interrupt of the thread that asks (Thread#kill, Thread#raise, Timeout) cuts in two. Nothing waits in it.
    def locked(&) = uninterrupted { @lock.synchronize(&) }

    def new_name = @names += 1

    def ask(name, bytes, size, timeout)
      fits(size)
      request = Request.new(bytes, size)
      begin
        locked { enqueue(name, request) }
        flush
        @lock.synchronize { await(request, timeout) } unless request.done?
      ensure
        # What was not sent is not sent any more. The answer to what was sent may come still, and is nobody's.
        locked { request.sent ? request.answer(nil) : @pending.delete(name) } unless request.done?
      end
      raise RubyVM::Cluster.again(request.error), cause: request.error.cause if request.error
      request.reply
    end

    def refuse_again
      raise RubyVM::Cluster.again(@failed), cause: @failed.cause if @failed
    end

    def enqueue(name, request)
      refuse_again
      raise Unavailable, "the connection to #{@address.server} was closed" if @closed
      @pending[name] = request
      return unless @ready
      request.sent = true
      @outbox << request.bytes
    end

    def by(timeout)
      by = RubyVM::Cluster.now + timeout
      @by && @by < by ? @by : by
    end

    def await(request, timeout)
      by = by(timeout)
      until request.done?
        left = by - RubyVM::Cluster.now
        raise Unavailable, "no answer from #{@address.server} in #{timeout} s#{" (#{@why})" if @why}" if left <= 0
        request.wait(@lock, left)
      end
    end

    def fail_all(error)
      pending, @pending = @pending, {}
      pending.each_value { |request| request.answer(nil, error) }
      @changed.broadcast
    end

    # Writes what there is, unless somebody else does. A failed write shows where the connection is read; one that is cut short, while the server takes nothing, ends the connection.
    def flush
      uninterrupted do
        while true
          bytes = @lock.synchronize do
            return if @writing || @outbox.empty? || !@ready
            @writing = true
            taken, @outbox = @outbox, String.new
            taken
          end
          whole = false
          socket = @socket
          begin
            write(socket, bytes)
            whole = true
            # What is large need not wait for the collector.
            bytes.clear if bytes.bytesize > PIECE
          rescue SystemCallError, IOError, *TLS_ERRORS.call => e
            @why = e.message
          ensure
            @lock.synchronize { @writing = false }
            close_socket(socket) unless whole
          end
          return unless whole
        end
      end
    end

    # Interrupts come where it waits.
    def write(socket, bytes)
      at = 0
      while at < bytes.bytesize
        case (written = socket.write_nonblock(at == 0 ? bytes : bytes.byteslice(at..), exception: false))
        when :wait_writable then Thread.__send__(:__unmasked) { socket.to_io.wait_writable }
        when :wait_readable then Thread.__send__(:__unmasked) { socket.to_io.wait_readable }
        else at += written
        end
      end
    end

    TLS_ERRORS = -> { defined?(OpenSSL::SSL::SSLError) ? [OpenSSL::SSL::SSLError] : [] }

    def shut = close_socket(@socket)

    def close_socket(socket)
      socket&.close
    rescue SystemCallError, IOError
      nil
    end

    # The connection's thread.
    def run
      Thread.__send__(:__not_counted)
      pause = FIRST
      until @closed
        begin
          connect
          pause = FIRST
          read
        rescue Refused, ProtocolError => e
          # Asking again would not help who has no right; who was in before is let in again, perhaps, when the server has found itself.
          if @connects == 0 || ProtocolError === e
            @lock.synchronize do
              @failed = e
              fail_all(e)
            end
            return
          end
          @why = e.message
        rescue SystemCallError, IOError, SocketError, *TLS_ERRORS.call => e
          @why = e.message
        ensure
          @lock.synchronize { lost }
          shut
        end
        return if @closed
        @place += 1
        sleep(pause * (0.5 + rand / 2))
        pause = [pause * 2, LONGEST].min
      end
    rescue Exception => e
      @lock.synchronize do
        @failed = Error.new("internal error of the connection to #{@address.server}: #{e.full_message(highlight: false)}")
        fail_all(@failed)
      end
    end

    def connect
      require "socket"
      @buffer = String.new(capacity: PIECE)
      # Of the connection before, which may have ended in its greeting.
      @early = nil
      @socket = open_socket
      greet
      @lock.synchronize do
        @connects += 1
        @why = nil
        @outbox = String.new
        opened
        # What was asked before, and may have been done already, first.
        @pending.each_value { |request| request.answer(nil, TooLarge.of(request.size, @largest, @address.server)) if @largest && request.size > @largest }
        @pending.reject! { |_, request| request.done? }
        @pending.each_value do |request|
          request.sent = true
          @outbox << request.bytes
        end
        @ready = true
        @changed.broadcast
      end
      flush
    end

    # For subclasses: a new connection is up / is lost. Under the lock.
    def opened = nil

    def lost
      @ready = false
      @changed.broadcast
    end

    def place = @address.places[@place % @address.places.size]

    def open_socket
      socket = Socket.tcp(*place, connect_timeout: CONNECT)
      socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      # A machine that is gone says nothing.
      socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_KEEPALIVE, 1)
      socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_KEEPIDLE, 15)
      socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_KEEPINTVL, 5)
      socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_KEEPCNT, 3)
      socket.sync = true
      socket
    end

    # Writes texts that have secrets in them, and leaves nothing in these Strings, nor in those of `also`.
    def write_secretly(*texts, also: nil)
      @socket.write(*texts)
    ensure
      [*texts, *also].each { |text| text&.clear }
    end

    # Redis begins with TLS, NATS after its first line.
    def secure(socket)
      require "openssl"
      context = OpenSSL::SSL::SSLContext.new
      context.min_version = OpenSSL::SSL::TLS1_2_VERSION
      context.verify_mode = @address.verify ? OpenSSL::SSL::VERIFY_PEER : OpenSSL::SSL::VERIFY_NONE
      context.verify_hostname = @address.verify
      @address.ca_file ? context.ca_file = @address.ca_file : context.set_params(verify_mode: context.verify_mode)
      if @address.certificate
        context.cert = OpenSSL::X509::Certificate.new(@address.certificate)
        context.key = OpenSSL::PKey.read(@address.key)
      end
      secured = OpenSSL::SSL::SSLSocket.new(socket, context)
      secured.hostname = place[0]
      secured.sync_close = true
      # As long as it says nothing.
      @why = "it has not answered a TLS handshake"
      secured.connect
      secured
    end

    def read
      while true
        nil while take
        # Among what was answered may be a channel that nobody has any more.
        Thread.__send__(:__wipe)
        @socket.readpartial(PIECE, @piece ||= String.new)
        @buffer << @piece
      end
    end

    # Forgets the first bytes of what was read.
    def consume(count)
      count == @buffer.bytesize ? @buffer.clear : @buffer.bytesplice(0, count, "")
    end
  end
  # Of a channel's side of a stream (`@making`: a Mutex). Once its handle has removed the channel, none of that handle's threads makes it again: not even one that has just heard that it is not there, which
  # is what those of pools take for a server that has lost it.
  module Removable # :nodoc:
    private

    # Calls the block, which makes something of the channel on the server.
    def make
      @making.synchronize do
        raise gone if @deleted
        yield
      end
    end

    # Calls the block, which removes it: after what is being made.
    def remove_for_good
      @making.synchronize { @deleted = true }
      yield
    rescue Error
      # It may be there.
      @deleted = false
      raise
    end

    def gone = RubyVM::ClosedError.new("the channel was deleted")
  end
  private_constant :Address, :Request, :Connection, :Removable
end
