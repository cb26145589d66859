# The other machines of a pool (docs/cluster.md): `RubyVM::Pool.new(connect: URL)` has this in the place of its VMs. All of it runs in `Pool#locked`, but for what says otherwise.
#
# Jobs go in chunks through one channel that all workers of the pool's name take from, results come back through one of this pool. What has no answer is known here: so whatever is executed twice, each
# job is answered once.
#
# The channel of jobs is one for each key: a worker that could not open them never takes them. Workers find out who waits for others by what callers tell of themselves (`caller.ID` on the server).
#
#   jobs     [caller, chunk, options, block or nil, [item, ...]]; blocks and items as bytes
#   results  [:done, chunk, worker, place, [result, ...], what the worker tells of itself]; [:again, ...] a worker died that had it; [:began, ...] the job is begun with, alone in its process; [:missing, ...] its block, or the set-up, is
#            not on the server any more
require "zakuro/cluster"
require "json"

class RubyVM::Pool
  class Machines # :nodoc:
    include Finishing

    # A worker process, as it tells of itself. `heard`: when, by the clock here.
    # `mark`: of its key; `fits`: it is this pool's. `listed`: the server has told of it. `at`: for whom it works, in the order in which it began.
    Machine = Struct.new(:id, :host, :pid, :size, :jobs, :errors, :busy, :beat, :mark, :at, :heard, :ended, :listed, :fits) do
      # nil when it is none: nobody has signed what the server has.
      def self.of(id, told)
        host, pid, size, jobs, errors, busy, beat, mark, at = told
        new(id, host, pid, size, jobs, errors, busy, beat, mark, Array(at)) if [pid, size, jobs, errors, beat].all?(Integer) && size > 0 && Numeric === busy && String === host
      end

      # Whether all its VMs are at jobs of others.
      def at_others?(caller) = at.size >= size && !at.first(size).include?(caller)
    end
    # A chunk that is out: where its results begin that came before those that stand before them; whether a worker has begun with it alone; how often its block was not there.
    Out = Struct.new(:chunk, :since, :parts, :began, :missed)
    # What chunks should take, in seconds: fifty times what it costs to send one.
    CHUNK = 0.05
    # How often it looks what workers there are; how long one may be silent.
    LOOK, SILENT = 1.0, 10.0
    # A chunk that nobody has is told again after so long.
    LOST = 5.0
    # Bytes of the jobs that go together; one alone may have more. The same for results.
    TOGETHER = 512 << 10
    # Bytes of messages above that which wait for their turn to be sent: with more of them nothing is dispatched.
    OUTGOING = 32 << 20
    # Seconds for which a server keeps parts of large messages: what it has lost is sent again.
    DAY = 86_400
    # How often a block is put on the server for one chunk.
    BLOCKS = 10
    # How long jobs wait for a worker before somebody is told.
    HINT = 4.0
    # How long ago a worker may have failed for that to be told as a reason.
    FAILED = 600

    attr_reader :events, :errors, :retries, :timeouts, :jobs, :times, :failed, :restarts, :over

    def initialize(pool, address, options, setup)
      require "zakuro/cluster/worker"
      require "socket"
      @pool = pool
      @name, @caller = address.name, RubyVM::Cluster.random_name
      @patience = RubyVM::Cluster.seconds(options[:patience], "patience") || 60
      @tries = RubyVM::Cluster.positive(options[:tries], "tries") || 3
      @worker_timeout = RubyVM::Cluster.seconds(options[:worker_timeout], "worker_timeout")
      @hidden = options[:key]
      @mark = Wire.mark(@hidden)
      @here = "#{@mark || "-"} #{Socket.gethostname}:#{Process.pid}"
      @address = address
      # An answer that takes as long as the server may be away is none; it is asked again in between.
      @limit = [RubyVM::Cluster.seconds(options[:timeout], "timeout") || 5, @patience / 2.0].min
      @setup = setup && Wire.pack(setup, :envelope, @hidden)
      @events = RubyVM::Channel.__hidden("#{pool.name} events")
      # By number: the names of tasks' blocks, and by those what the server was given.
      @tasks, @line, @out, @blocks, @texts, @machines = [], [], {}, {}, {}, {}
      @outgoing = Thread::Queue.new
      @answers = Thread::Queue.new
      # Wakes who looks around; what he says then.
      @look, @hints = Thread::Queue.new, Thread::Queue.new
      @going = @number = @beat = @errors = @retries = @timeouts = @jobs = @restarts = @empty_looks = 0
      @times = Times.new
      # By worker: seconds of the jobs of this pool.
      @busy = Hash.new(0.0)
      @looked = 0.0
      @setup_name = @setup && "block.#{@caller}.setup"
      @threads = []
    end

    def open
      plain = { ack_wait: 30, key: @hidden, timeout: @limit, tries: nil }
      @jobs_channel = Remote.at(Wire.jobs_of(@address, @mark), **plain)
      @results = Remote.at(@address.with_name("#{@name}.results.#{@caller}"), ack: :receipt, prefetch: 1000, **plain)
      @store = Remote.at(@address.with_name(@name), **plain).__queue
      @store.put(@setup_name, @setup, 600) if @setup
      beat
      # The first one takes leave of the server.
      %i[send_all hear_all look_around].each { |work| @threads << Thread.new { own(work) } }
      @threads.each { |thread| thread.report_on_exception = true }
    end

    # It could not be opened as a whole.
    def forsake
      close
      return unless @threads.empty?
      [@jobs_channel&.__queue, @results&.__queue, @store].each { |queue| queue&.disconnect }
    end

    Remote = Class.new(RubyVM::Channel::Remote) do
      # Of an address that is known already. `foreign`: others make it, and end it; what is sent when it is not there waits for that.
      def self.at(address, ack: :next, ack_wait: 30, prefetch: 64, tries: 10, key: nil, timeout: 5, exact: false, foreign: false)
        made = allocate
        hidden = RubyVM::Cluster.hidden_key(key)
        made.marshal_load([address, ack, :envelope, tries, hidden, nil, ack_wait, prefetch, nil, nil, timeout, { parts: true, parts_age: DAY, parts_bound: nil }])
        made.instance_variable_set(:@exact, exact)
        made.__queue.foreign = foreign
        made.__open
        made
      end

      # Jobs and results that a server has lost, or that were taken for those of a pool that is gone, are sent again.
      private def prepare
        super
        @queue.lasting = true
        # It ends when the pool or worker does: of some the queue alone is used, and nobody has the handle.
        ObjectSpace.undefine_finalizer(self)
      end
    end
    Wire = RubyVM::Cluster.const_get(:Wire)

    # Without the lock. TypeError when the block can't travel, TooLarge when the server does not take it.
    def fits(block) = @store.fits(Wire.pack(block, :envelope, @hidden))

    # How many VMs there are to give work to.
    def vms = @machines.each_value.sum { |machine| machine.ended || !machine.fits ? 0 : machine.size }
    def machines = @machines.values
    # Why nothing goes on, when that is so.
    def hint = @refused || @hint

    def remove(task)
      super
      @out.delete_if { |_, out| out.chunk.task.equal?(task) }
    end

    def idle? = @tasks.none?(&:keeps_open?) && !waiting? && @out.empty?
    def gone? = @gone
    def deadline = nil
    def expire = nil

    # Sends what there is, as long as not too much is out.
    def dispatch
      return if @failed
      size = [vms, 4].max
      while @out.size < 3 * size && @going < OUTGOING
        give(next_chunk(size, CHUNK) || return)
      end
    end

    # What the threads tell.
    def handle(event)
      case event
      when :answers
        read(@answers.pop) until @answers.empty?
      when Hash
        event.each_value do |machine|
          machine.listed = true
          heard(machine)
        end
        @machines.each_value { |machine| machine.ended = (machine.listed && !event.key?(machine.id)) || now - machine.heard > SILENT }
        @pool.__send__(:size_is, vms)
        look_for_workers
      when :lost
        # Nobody has them any more: the server forgot, or this pool was taken for dead.
        @out.each do |number, out|
          next unless now - out.since > LOST
          @restarts += 1
          post(number, out)
        end
      when :ended then @gone = true
      when Array
        case event[0]
        when :dropped then forget(event[1])
        when :block then block_too_large(*event.drop(1))
        when :jobs then too_large(*event.drop(1))
        when :went then @going -= event[1]
        when :failed then @failure = event[1]
        when :refused then refused(event[1])
        end
      when Exception then @pool.__send__(:break_off, event)
      end
    end

    def close
      @outgoing << nil
    end

    def kill(**) = close

    def fail(error)
      @failed = error
      drop(error)
      @out.each_value { |out| out.chunk.items.drop(out.chunk.done).each_with_index { |item, i| out.chunk.task.finish(out.chunk.index + i, nil, error, item) } }
      @out.clear
    end

    # The share of this time that a worker's VMs had jobs of this pool.
    def busy(machine, elapsed) = elapsed > 0 ? [@busy[machine.id] / elapsed / machine.size, 1.0].min : 0.0

    private

    # What a worker has told of itself, through the server or with results: that may overtake the other.
    def heard(machine)
      known = @machines[machine.id]
      machine.fits = machine.mark == @mark
      machine.heard = now
      if known
        machine.heard = known.heard if machine.listed && known.beat >= machine.beat
        machine.beat = [known.beat, machine.beat].max
        machine.jobs = [known.jobs, machine.jobs].max
        machine.errors = [known.errors, machine.errors].max
        machine.listed ||= known.listed
      end
      @machines[machine.id] = machine
    end

    # Whether there is somebody to do what is out.
    def look_for_workers
      there = @machines.each_value.reject(&:ended)
      fitting = there.select(&:fits)
      @failure = nil if fitting.any?
      return @hint = @alone_since = nil if @out.empty? || !fitting.all? { |machine| machine.at_others?(@caller) }
      @alone_since ||= now
      waited = now - @alone_since
      return if waited < [HINT, @worker_timeout].compact.min
      others = there.size
      @hint = if fitting.any? then "#{fitting.size == 1 ? "the worker that is there is" : "the #{fitting.size} workers that are there are"} at jobs of other pools"
              elsif there.empty? then "no worker has answered: none is there (zakuro worker --connect #{@address} ...)"
              else "no worker has answered: #{others == 1 ? "the one that is" : "the #{others} that are"} there #{keys_of(there)}"
              end
      @hint = "#{@hint}; #{@failure}" if @failure
      if @hint != @told
        @hints << (@told = @hint)
        @look << true
      end
      return if fitting.any? || !@worker_timeout || waited <= @worker_timeout
      @pool.__send__(:break_off, Error.new("#{@hint}; in #{@worker_timeout} s"))
    end

    # What the server says to who writes, or nil.
    def refused(why)
      @refused = why && "the server takes nothing: #{plain(why)}"
      return if @refused.nil? || @refused == @told_refused
      @hints << (@told_refused = @refused)
      @look << true
    end

    def keys_of(machines)
      one = machines.size == 1
      return "#{one ? "has" : "have"} a key, and this pool has none (key:)" unless @mark
      return "#{one ? "has" : "have"} no key, and this pool has one (--key-file)" if machines.none?(&:mark)
      "#{one ? "has" : "have"} another key than this pool"
    end

    def now = RubyVM::Cluster.now

    def under_way = @out.each_value.map(&:chunk)

    def forget(number)
      name = @blocks.delete(number) or return
      @texts.delete(name)
      @outgoing << [:forget, name]
    end

    def give(chunk)
      number = @number += 1
      task, items, tried = chunk.task, nil, false
      # An interrupt of who hands it out may come here.
      error = Thread.__send__(:__attempt) do
        items = packed(chunk)
        block_of(task)
      end
      tried = true
      return unsent(chunk, error) if error
      if items.size < chunk.items.size
        chunk, rest = chunk.parted(items.size)
        rest.task.put_back(rest)
      end
      @out[number] = Out.new(chunk, now, {})
      post(number, @out[number], items)
    ensure
      chunk.task.put_back(chunk) unless tried
    end

    def unsent(chunk, cause)
      return chunk.each_alone { |alone| alone.task.put_back(alone) } if chunk.items.size > 1
      error = TypeError.new("it can't be sent to a worker: #{Words.message_of(cause)}")
      error.set_backtrace(Words.backtrace_of(cause))
      finish(chunk, nil, JobError.of(:exception, chunk.index, @name, error.message, error))
    end

    # The server takes no message of that size: fewer jobs go in one, and a job that is too large alone fails.
    def too_large(number, error)
      chunk = (@out.delete(number) or return).chunk
      return chunk.halves.each { |half| half.task.put_back(half) } if chunk.items.size - chunk.done > 1
      finish(chunk, nil, JobError.of(:exception, chunk.index, @name, "it can't be sent to a worker: #{error.message}", error))
    end

    def block_too_large(name, error)
      (@tasks + under_way.map(&:task)).find { |task| @blocks[task.number] == name }&.break_down(error)
    end

    # The jobs without an answer, as bytes: the first of them, if all would be too much for one message.
    def packed(chunk, most = TOGETHER)
      bytes, found = 0, []
      (chunk.done...chunk.items.size).each do |i|
        item = chunk.items[i]
        item = chunk.task.block ? Wire.dump(item) : [Wire.pack(item.call[0], :envelope), Wire.dump(item.call[1])]
        bytes += bytes_of(item)
        break if most && bytes > most && i > chunk.done
        found << item
      end
      found
    end

    def bytes_of(item) = Array === item ? item.sum(&:bytesize) : item.bytesize

    # Also again: then without the jobs that are answered.
    def post(number, out, items = packed(out.chunk, nil))
      chunk, task = out.chunk, out.chunk.task
      out.since, out.began = now, nil
      block = block_of(task)
      timeout = task.timeout_of(chunk.item)
      bytes = items.sum { |item| bytes_of(item) }
      @going += bytes if bytes > TOGETHER
      message = [@caller, number, { quiet: task.quiet, timeout:, alone: chunk.alone, place: chunk.done, setup: @setup_name }, block, items]
      @outgoing << message
    end

    # The name of its block on the server, where it is put for the first of its chunks.
    def block_of(task) = task.block && (@blocks[task.number] ||= put_block(task))

    def put_block(task)
      name = "block.#{@caller}.#{task.number}"
      @texts[name] = Wire.pack(task.block, :envelope, @hidden)
      put_text(name)
      name
    end

    def put_text(name) = @outgoing << [:block, name, @texts[name], DAY]

    # Answers to jobs, in their order; whatever comes twice is passed over.
    def read(answer)
      kind, number, worker, place, results, told = answer
      # A worker that is new.
      @look << true if @look.empty? && !@machines.key?(worker)
      if told && (machine = Machine.of(worker, told))
        heard(machine)
        @pool.__send__(:size_is, vms)
      end
      out = @out[number] or return
      chunk = out.chunk
      case kind
      when :done
        out.parts[place] = results if results.is_a?(Array) && place + results.size > chunk.done
        while (found = out.parts.find { |from, list| from <= chunk.done && from + list.size > chunk.done })
          out.parts.delete(found[0])
          found[1].drop(chunk.done - found[0]).each { |result| take_result(chunk, worker, *result) unless chunk.done? }
        end
      when :again
        # One of its jobs may be what workers die of, or one that another VM there had: from here on each is by itself in its process, and that is counted.
        @out.delete(number)
        @restarts += 1
        chunk.deaths += 1 if out.began
        return fail_job(chunk, worker, :end, "workers ended at it, #{chunk.deaths} times", nil) if chunk.deaths >= @tries
        return chunk.each_alone do |one|
          one.alone, one.deaths = true, chunk.deaths
          one.task.put_back(one)
        end
      when :began then out.began = true
      when :missing then block_missing(number, out, worker)
      end
      @out.delete(number) if chunk.done?
    end

    # The server has forgotten it.
    def block_missing(number, out, worker)
      chunk, task = out.chunk, out.chunk.task
      out.missed = (out.missed || 0) + 1
      if out.missed > BLOCKS
        fail_job(chunk, worker, :exception, "the worker can't open it: its block is not there", nil) until chunk.done?
        return
      end
      put_text(@blocks[task.number]) if task.block
      @outgoing << [:block, @setup_name, @setup, 600] if @setup
      post(number, out)
    end

    # [:value, bytes, seconds] or [kind, bytes of the exception or nil, seconds, text, class, message and backtrace of it and of its causes]
    # The kind is :setup when it was not begun, since the set-up failed: then as in a pool of this process.
    def take_result(chunk, worker, kind, bytes, seconds, text = nil, chain = nil)
      if kind == :setup
        @pool.__send__(:set_up_failed, cause_of(bytes, chain), "#{text}, at #{place_of(worker)}")
        return chunk.done = chunk.items.size
      end
      chunk.task.took(seconds, 1)
      @times.add([seconds])
      @busy[worker] += seconds
      if kind == :value
        begin
          value = chunk.task.quiet ? nil : Marshal.load(bytes)
        rescue StandardError, LoadError => e
          return fail_job(chunk, worker, :exception, "its result can't be used here: #{Words.of(e)}", e)
        end
        @jobs += 1
        chunk.task.finish_all(chunk, [value])
        chunk.done += 1
      else
        fail_job(chunk, worker, kind, text, cause_of(bytes, chain))
      end
    end

    def cause_of(bytes, chain)
      found = begin
        bytes && Marshal.load(bytes)
      rescue StandardError, LoadError
        nil
      end
      return found if Exception === found
      chain&.reverse&.inject(nil) { |cause, (name, message, backtrace)| with_cause(named(name, message, backtrace), cause) }
    end

    # An exception that could not travel as it was, or one of its causes: of its class, if that is here.
    def named(name, message, backtrace)
      begin
        made = class_of(name).allocate
        Exception.instance_method(:initialize).bind_call(made, message)
      rescue StandardError, LoadError
        made = RuntimeError.new("#{message} (#{name})")
      end
      made.set_backtrace(backtrace) if backtrace
      made
    end

    # NameError and TypeError: there is no such class of exceptions.
    def class_of(name)
      found = String(name).split("::").inject(Object) { |outer, part| outer.const_get(part, outer.equal?(Object)) }
      Class === found && found <= Exception ? found : raise(TypeError, "not an exception: #{name}")
    end

    def with_cause(error, cause)
      raise error, cause: cause
    rescue Exception => e
      e
    end

    def fail_job(chunk, worker, kind, message, cause)
      @timeouts += 1 if kind == :timeout
      if chunk.task.again?(chunk.index, chunk.item)
        @retries += 1
        chunk.done += 1
      else
        finish(chunk, nil, JobError.of(kind, chunk.index, place_of(worker), message, cause))
      end
    end

    def place_of(worker) = (machine = @machines[worker]) ? "#{machine.host}:#{machine.pid}" : worker

    # The rest runs in threads, without the pool's lock.

    def own(work)
      Thread.__send__(:__not_counted)
      __send__(work)
    end

    def send_all
      while (message = @outgoing.pop)
        patiently do
          case message[0]
          when :block then @store.put(*message.drop(1))
          when :forget then @store.remove(message[1])
          else @jobs_channel.send(message)
          end
        rescue RubyVM::Cluster::TooLarge => e
          @events << (message[0] == :block ? [:block, message[1], e] : [:jobs, message[1], e])
        end
        next if Symbol === message[0]
        bytes = message[4].sum { |item| bytes_of(item) }
        next unless bytes > TOGETHER
        # At once, not when it is collected: if it is told again, it is packed again.
        message[4].each { |item| Array(item).each(&:clear) }
        @events << [:went, bytes]
      end
      closed = true
    rescue RubyVM::Cluster::Error, RubyVM::ClosedError, ArgumentError => e
      @events << told(e)
      nil while @outgoing.pop
      closed = true
    ensure
      leave(closed)
    end

    # A server that is away, has no room (it took what this pool began with), or says no for what somebody does there at this moment, is waited for, not for ever.
    def patiently
      by = nil
      begin
        yield
      rescue RubyVM::Cluster::Unavailable, RubyVM::Cluster::Refused => e
        by ||= now + @patience
        raise if now > by || @failed || @leaving
        @events << [:refused, e.message] if RubyVM::Cluster::Refused === e
        sleep(0.1)
        retry
      end
    end

    def hear_all
      begin
        while (answer = patiently { @results.recv })
          @answers << answer
          @events << :answers if @answers.size == 1
          @empty_looks = 0
        end
      rescue RubyVM::Cluster::BrokenMessage
        # Not of a worker of this pool.
        retry
      rescue RubyVM::ClosedError
        nil
      end
    rescue RubyVM::Cluster::Error => e
      @events << told(e)
    end

    # Tells that this pool lives, finds out which workers do, and whether what is out has got lost.
    def look_around
      missing = nil
      until @leaving
        warn "zakuro: pool #{@pool.name}: #{@hints.pop}" until @hints.empty?
        began = now
        begin
          refusal = [refusal_of { beat }, refusal_of { look }].compact.first
          @events << [:refused, refusal&.message] if refusal || @refused
          missing = refusal && (missing || now)
          # What was never granted is not waited for.
          raise refusal if refusal && (@generation.nil? || now - missing > @patience)
        rescue RubyVM::Cluster::Unavailable => e
          missing ||= began
          if now - missing >= @patience
            @events << told(e)
            return
          end
        end
        @look.pop(timeout: LOOK)
      end
    rescue RubyVM::Cluster::Error, RubyVM::ClosedError => e
      @events << told(e) unless @leaving
    end

    def look
      found = workers
      failure = found.each_value.any? { |machine| machine.mark == @mark } ? nil : last_failure
      @events << [:failed, failure] if failure
      @events << found
      size = @jobs_channel.size
      generation = @jobs_channel.__queue.generation
      @empty_looks = size == 0 && @results.size == 0 ? @empty_looks + 1 : 0
      if @empty_looks >= 2 || (@generation && generation != @generation)
        @empty_looks = 0
        @events << :lost
      end
      @generation = generation
    end

    # With what the server says no to it, or nil.
    def refusal_of
      yield
      nil
    rescue RubyVM::Cluster::Refused => e
      e
    end

    # Exceptions are messages like others here. A server that is away was asked for as long as this pool is patient, not only the last time.
    def told(error)
      return error unless RubyVM::Cluster::Unavailable === error
      RubyVM::Cluster::Unavailable.new(error.message.sub(/ in [\d.]+ s\b/, " in #{@patience} s"))
    end

    def beat
      @store.put("caller.#{@caller}", "#{@beat += 1} #{@here}", 60)
      @store.put(@setup_name, @setup, 600) if @setup && @beat % 100 == 0
    end

    def workers
      @store.list("worker.").filter_map do |id, text|
        machine = Machine.of(id, JSON.parse(text))
        machine && [id, machine]
      rescue JSON::ParserError, TypeError
        nil
      end.to_h
    end

    # What the last worker says that could not start, or go on. Nobody has signed it.
    def last_failure
      host, pid, at, why, began = JSON.parse(@store.get("failed.#{@mark || "-"}") || "[]")
      return unless Integer === pid && Numeric === at && String === host && String === why && (Time.now.to_f - at).abs < FAILED
      "one #{began == true ? "ended" : "could not start"}, #{plain(host)}:#{pid}: #{plain(why)}"
    rescue JSON::ParserError, TypeError
      nil
    end

    # In one line, without what a terminal would obey.
    def plain(text) = text.scrub.gsub(/[[:cntrl:]]+/, " ").strip[0, 1000]

    # `closed`: else the VM ends, and does not wait for its server for long.
    def leave(closed)
      @leaving = true
      @look << true
      by = closed ? now + @limit : RubyVM::Cluster.ending_by
      [@store, @results.__queue, @jobs_channel.__queue].each { |queue| queue.connection.hurry(by) }
      [@setup_name, "caller.#{@caller}"].compact.each do |name|
        @store.remove(name)
      rescue RubyVM::Cluster::Error
        nil
      end
      begin
        @results.delete
      rescue RubyVM::Cluster::Error, RubyVM::ClosedError
        nil
      end
      @jobs_channel.disconnect
      @store.disconnect
    ensure
      @events << :ended
    end
  end
  private_constant :Machines
end
