# What the VMs of a pool run (docs/pools.md). A VM has an inbox, from which it takes one message after the other:
#
#   [number, quiet, list, base, block]  a chunk: the block is called with each object of the list; `quiet`: its values are not sent. The block is left out when this VM has it
#   [nil, false, list, base]            a chunk of pairs: a Proc and its arguments
#   an Integer                          the number of a block that is not needed any more
#
# and answers in a channel of its own, in the order of the jobs: with a Float, the time of the clock, when it begins a chunk; with an Integer (place of the first value in the chunk, and in the lower 16 bits how many there are) and an Array of values, a Failure, or Unreadable. So the pool knows which jobs are done. A value is sent as soon as it is
# there, unless that would be sooner than 50 microseconds after the last message: then with the next ones. Exceptions go, before their Failure, through a third channel, since a
# message that can't be opened is lost. The channels stand in arguments and nowhere else: a job that finds one (ObjectSpace shows none of them) could stop the pool. A VM that is killed says where it was, if its grace time lets it. `events` is the one channel at which the pool waits: it gets [number of the
# VM, what its jobs took] when a chunk is done, and in between when some milliseconds have passed.
class RubyVM::Pool
  # What a job that raised leaves behind. `kind`: :exception; :ends when the VM is given up after it; :unsendable when its value can't be sent.
  Failure = Struct.new(:kind, :name, :message, :backtrace, :place)

  # For a whole chunk that could not be opened. No message: its block came with one that did not arrive here.
  Unreadable = Struct.new(:message)

  # The last word of a VM that is killed: the place in the chunk of the job that it was at.
  At = Struct.new(:job)
  private_constant :Failure, :Unreadable, :At

  # What exceptions of programs say: their classes may have methods of any kind by these names.
  module Words # :nodoc:
    CLASS, NAME, TO_S = Kernel.instance_method(:class), Module.instance_method(:name), Module.instance_method(:to_s)
    BACKTRACE, CAUSE = Exception.instance_method(:backtrace), Exception.instance_method(:cause)
    private_constant :CLASS, :NAME, :TO_S, :BACKTRACE, :CAUSE

    class << self
      # The name of its class, or what stands for that.
      def class_of(error)
        found = CLASS.bind_call(error)
        plain(NAME.bind_call(found) || TO_S.bind_call(found))
      end

      # A text of any encoding as one that goes with others.
      def plain(text)
        text = String.new(text)
        case text.encoding
        when Encoding::UTF_8, Encoding::US_ASCII then text
        when Encoding::BINARY then text.force_encoding(Encoding::UTF_8)
        else text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
        end
      rescue EncodingError
        text.force_encoding(Encoding::UTF_8)
      end

      def message_of(error)
        plain(String(error.message))
      rescue Exception => e
        "(its message raised #{class_of(e)})"
      end

      # Both at once.
      def of(error) = "#{message_of(error)} (#{class_of(error)})"

      # Texts, or nil; that which it really has when its class says none.
      def backtrace_of(error)
        error.backtrace&.map { |line| plain(line.to_s) }
      rescue Exception
        BACKTRACE.bind_call(error)&.map { |line| plain(line.to_s) }
      end

      def cause_of(error)
        found = error.cause
        Exception === found ? found : nil
      rescue Exception
        CAUSE.bind_call(error)
      end
    end
  end
  private_constant :Words

  # The program of a pool's VM.
  module Worker # :nodoc:
    # How long values and news wait for others, in seconds.
    SEND_AFTER = 0.000_05
    TELL_AFTER = 0.005
    CALL = ->(pair) { pair[0].call(*pair[1]) }

    class << self
      attr_reader :local, :index

      # The job of another machine (crates/cluster): a Proc that every VM of a pool knows.
      def far(given) = ->(item) { far_job(given, item) }

      def far_job(given, item)
        unless @far
          require "zakuro/cluster/worker"
          @far = RubyVM::Cluster.const_get(:Job)
        end
        @far.run(*given, item)
      end

      # Starts a VM from an image.
      def spawn(image, name, limits, arguments, into)
        image.spawn(arguments, name:, __into: into, **limits) { |given| run(given) }
      end

      # Starts a VM that loads a file.
      def load_in(file, name, limits, arguments, into)
        into << RubyVM.new(name, "-e", "RubyVM::Pool.const_get(:Worker).run(*RubyVM::ARGV)", **limits)
        into.first.start({ **arguments, file: })
      end

      def run(given)
        number, inbox, out, exceptions, events = given.values_at(:number, :inbox, :out, :exceptions, :events)
        file, setup, @index = given.values_at(:file, :setup, :index)
        given.clear
        @blocks = {}
        return unless set_up(file, setup, number, exceptions, events)
        # What a thread that a job has left behind, or a trap, raises here comes to the job that is at work, or the next one.
        RubyVM.__shielded { work(number, inbox, out, exceptions, events) }
      end

      private

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      # Once per VM, before its first job.
      def set_up(file, block, number, exceptions, events)
        load(file) if file
        @local = block&.call
        events << [number, :ready]
        true
      rescue Exception => e
        failed = failure(e, 0, exceptions)
        events << [number, failed]
        false
      end

      def work(number, inbox, out, exceptions, events)
        # nil is the end.
        while (message = take(number, inbox, out, events))
          if Integer === message
            @blocks.delete(message)
          else
            task, quiet, list, _base, block = message
            if block
              @blocks[task] = block
            else
              block = task ? @blocks[task] : CALL
            end
            if block
              return unless go_through(block, quiet, list, number, out, exceptions, events)
            else
              skip(nil, number, out, events)
            end
            # Not kept while it waits.
            message = list = block = nil
          end
        end
      end

      # The next message that can be opened. A time limit that is reached while it waits is no news: the VM ends, and another comes.
      def take(number, inbox, out, events)
        inbox.recv
      rescue RubyVM::LimitError
        nil
      rescue StandardError, LoadError => e
        skip(Words.of(e), number, out, events)
        retry
      end

      def skip(why, number, out, events)
        out << Unreadable.new(why)
        events << [number, [].freeze]
      end

      # Answers whether the VM goes on.
      def go_through(block, quiet, list, number, out, exceptions, events)
        values, times = [], []
        # The place of the first of the values.
        first = 0
        before = sent = told = now
        out << before
        last = list.size - 1
        i = 0
        while i <= last
          begin
            value = RubyVM.__job(block, list[i])
            values << (quiet ? nil : value)
          rescue Exception => e
            failed = failure(e, i, exceptions)
            answer(values, first, out) unless values.empty?
            out << failed
            values = []
            first = i + 1
          end
          value = nil
          after = now
          times << after - before
          before = after
          over = i == last || failed&.kind == :ends
          if over || after - sent > SEND_AFTER
            unless values.empty?
              answer(values, first, out)
              values = []
              first = i + 1
            end
            sent = after
            if over || after - told > TELL_AFTER
              answered = over
              events << [number, times]
              return failed&.kind != :ends if over
              times = []
              told = after
            end
          end
          failed = nil
          i += 1
        end
        answered = true
      ensure
        # Killed. What was sent a moment ago may be sent again: it has its place.
        unless answered
          answer(values, first, out) unless values.nil? || values.empty?
          out << At.new(i)
        end
      end

      # Sends values, of which the first has this place in the chunk.
      def answer(values, place, out)
        out << (place << 16 | values.size)
        out << values
      rescue StandardError => e
        return one_by_one(values, place, out) if values.size > 1
        out << Failure.new(:unsendable, Words.class_of(e), Words.message_of(e).sub("$[0]", "$")[0, 10_000], nil, place)
      rescue NoMemoryError
        raise if values.size == 1
        one_by_one(values, place, out)
      end

      # Without a block, which would keep the channel where a program may find it.
      def one_by_one(values, place, out)
        i = 0
        while i < values.size
          answer([values[i]], place + i, out)
          i += 1
        end
      end

      def failure(error, place, exceptions)
        kind = case error
               when NoMemoryError, SystemExit, SignalException, RubyVM::LimitError then :ends
               else :exception
               end
        begin
          exceptions << (@far ? @far.packed(error) : error)
        rescue Exception
          exceptions << false
        end
        Failure.new(kind, Words.class_of(error), Words.message_of(error), Words.backtrace_of(error), place)
      end
    end
  end
  private_constant :Worker
end
