# What a worker of a pool on several machines does (docs/cluster.md): `zakuro worker`. A pool of this process runs the jobs; this VM opens none of their objects.
require "zakuro/cluster"

module RubyVM::Cluster
  # How many blocks are kept, and how many bytes of their texts.
  BLOCKS, BLOCK_BYTES = 100, 64 << 20
  # Of an exception that can't be made again as it was: so many causes are told of, with so many letters of their messages.
  CAUSES, TEXT = 20, 10_000
  private_constant :BLOCKS, :BLOCK_BYTES, :CAUSES, :TEXT

  # In the VMs of the worker's pool.
  module Job # :nodoc:
    # By name, with the bytes of their texts.
    @blocks = {}
    Words = RubyVM::Pool.const_get(:Words)
    private_constant :Words

    class << self
      # Runs a job: [bytes of its value, seconds]; [:setup, text, what `packed` gives] when the set-up failed. `name`: what its block is called; nil: the item brings its own. `progress`: where the
      # worker hears which VM is at its set-up, [name, whether it is].
      def run(name, text, key, setup_name, setup, progress, quiet, item)
        @began = nil
        failed = setup_name && set_up(setup_name, setup, key, progress) and return failed
        if name
          block, = @blocks[name] || remember(name, text, key)
          arguments = [Marshal.load(item)]
        else
          block = Wire.open(item[0], :envelope)
          arguments = Marshal.load(item[1])
        end
        @began = RubyVM::Cluster.now
        value = block.call(*arguments)
        [quiet ? nil : dump(value), RubyVM::Cluster.now - @began]
      end

      # An exception on its way: [its bytes or nil, class, message and backtrace of it and of its causes, seconds of the job that it ended]. Here, since the worker itself need not have its class.
      def packed(error)
        seconds = @began ? RubyVM::Cluster.now - @began : 0.0
        bytes = begin
          Marshal.dump(error)
        rescue StandardError
          nil
        end
        chain = []
        while error && chain.size < CAUSES
          chain << [Words.class_of(error), text_of(error), Words.backtrace_of(error)]
          error = Words.cause_of(error)
        end
        [bytes, chain, seconds]
      end

      private

      def text_of(error) = Words.message_of(error)[0, TEXT]

      def remember(name, text, key)
        # Blocks of pools that are gone, and what has captured much.
        @blocks.shift while @blocks.size >= BLOCKS || (!@blocks.empty? && @blocks.sum { |_, one| one[1] } + text.bytesize > BLOCK_BYTES)
        @blocks[name] = [Wire.open(text, :envelope, key), text.bytesize]
      end

      def dump(value)
        Wire.dump(value)
      rescue TypeError => e
        raise TypeError, "its result can't be sent: #{e.message}"
      end

      # Answers what the job has instead of a value, if it fails.
      def set_up(name, text, key, progress)
        return if @set_up == name
        here = RubyVM.current.name
        progress << [here, true]
        value = Wire.open(text, :envelope, key).call
        progress << [here, false]
        RubyVM::Pool.const_get(:Worker).instance_variable_set(:@local, value)
        @set_up = name
        nil
      rescue NoMemoryError, RubyVM::LimitError
        # Of this VM, which ends by it.
        raise
      rescue Exception => e
        progress << [here, false]
        [:setup, "#{text_of(e)} (#{Words.class_of(e)})", *packed(e)]
      end
    end
  end

  # The worker itself.
  class Worker # :nodoc:
    BEAT = 1.0
    # How often it looks for what callers have left behind that are gone, if it does not have to be sooner.
    SWEEP = 30.0
    # After so many seconds results go, or so many bytes of them.
    SEND_AFTER, TOGETHER = 0.1, 512 << 10
    # How often it looks for callers with another key: seldom, while it finds none.
    STRANGERS = 2.0..30.0
    # How long a job waits for others to end that are to run beside nothing, and for how long others wait for that.
    ALONE_AFTER, QUIET = 30.0, 1.0
    # Seconds between attempts to send what the server has refused.
    PAUSES = [0.1, 0.5, 2.0].freeze
    # How long what is sent to a pool waits for its channel before it is asked whether there is such a pool, in seconds.
    ANSWER = 0.05
    # For how many seconds callers are told why a worker could not start, or go on.
    FAILED = 600
    # How the words end about a VM that somebody has ended: that is nothing of the set-up's.
    KILLED = "it was killed"

    # Raised where a chunk is waited for whose pool is gone.
    class Abandoned < RubyVM::Pool::Error; end

    # A chunk that is being done: whose it is, and as what the worker's pool knows it.
    AtWork = Struct.new(:caller, :job)

    attr_reader :id, :jobs, :errors, :pool

    def initialize(url, file: nil, size: nil, key: nil, ack_wait: 10, timeout: 5, caller_timeout: 30, **options)
      server = options.slice(:user, :password, :token, :nkey, :credentials, :ca_file, :certificate, :private_key, :verify)
      limits = options.except(*server.keys)
      server[:key] = server.delete(:private_key) if server.key?(:private_key)
      address = Address.new(url, **server)
      raise ArgumentError, "the address names no pool: #{address.server}/NAME" if address.name.empty?
      @id = RubyVM::Cluster.random_name
      # Hidden from here on, also from those that it is handed to.
      @key = key = RubyVM::Cluster.hidden_key(key)
      @timeout = timeout
      # How long a caller may be silent before its jobs and results are dropped.
      @silent = RubyVM::Cluster.seconds(caller_timeout, "caller_timeout")
      @quiet, @swept = {}, 0.0
      @address = address
      require "zakuro/cluster/crew"
      require "socket"
      @host = Socket.gethostname
      wire = RubyVM::Cluster.const_get(:Wire)
      @mark = wire.mark(@key)
      @strangers, @pause, @looked = {}, STRANGERS.begin, RubyVM::Cluster.now
      @remote = RubyVM::Pool.const_get(:Machines)::Remote
      tell_of_failure { load_program(file, size, limits) }
      @channel = @remote.at(wire.jobs_of(address, @mark), ack: :manual, ack_wait:, prefetch: 2 * @pool.size + 2, tries: nil, key:, timeout:, exact: true)
      @store = @remote.at(address, key:, timeout:).__queue
      @lock = Mutex.new
      # Chunks that are being done, and whether somebody wants to be alone.
      @changed = ConditionVariable.new
      @running = 0
      # What is being done, in the order in which it was begun.
      @at_work = []
      @alone = false
      @results, @callers, @blocks = {}, {}, {}
      @progress, @setting_up = RubyVM::Channel.__hidden("worker set-ups"), {}
      @jobs = @errors = @beat = 0
      @busy = 0.0
      @start = RubyVM::Cluster.now
    end

    # Until `stop`. The server may go away in between.
    def run
      teller = Thread.new { tell_of_itself }
      threads = Array.new(@pool.size + 1) { |i| Thread.new { take }.tap { |thread| thread.name = "jobs #{i}" } }
      # Who waits for them tells.
      threads.each { |thread| thread.report_on_exception = false }
      tell_of_failure { threads.each(&:join) }
    ensure
      @stopped = true
      teller&.kill
      channels = [@channel, *@results.values]
      by = RubyVM::Cluster.ending_by
      RubyVM::Cluster.end_all(channels, by)
      [@store, *channels.map(&:__queue)].each { |queue| queue.connection.hurry(by) }
      begin
        @store.remove("worker.#{@id}")
      rescue Error
        nil
      end
      channels.each(&:disconnect)
      @store.disconnect
      @pool.shutdown
    end

    # Takes no more jobs; those that run go on to their end. Answers how many chunks these are.
    def stop
      @stopped = true
      @channel.stop
      @lock.synchronize { @at_work.size }
    end

    private

    def load_program(file, size, limits)
      raise ArgumentError, "no such file: #{file}" if file && !File.file?(file)
      @pool = RubyVM::Pool.new(file:, size:, name: "worker", **limits)
      # A program that can't be loaded is told of here, not by the first job of somebody else.
      @pool.submit(1, &:itself).value if file
    end

    # Those who wait for workers may be on another machine: why there is one less stands on the server.
    def tell_of_failure
      yield
    rescue RubyVM::Pool::Error, ArgumentError, SystemCallError => e
      begin
        require "json"
        store = @remote.at(@address, key: @key, timeout: @timeout).__queue
        # One for all, the last one: a server may keep it for longer than it is told.
        store.put("failed.#{@mark || "-"}", JSON.generate([@host, Process.pid, Time.now.to_f, e.message.scrub[0, 1000], !@start.nil?]), FAILED)
        store.disconnect
      rescue Error
        nil
      end
      raise
    end

    def take
      until @stopped
        begin
          message = @channel.recv
          break if message.nil?
          if Array === message && message.size == 5 && well_formed?(*message)
            perform(*message)
          else
            warn "zakuro worker: a message that is no chunk of jobs was passed over"
          end
          @channel.ack
        rescue BrokenMessage => e
          warn "zakuro worker: #{e.message}"
        rescue Unavailable, Refused => e
          # What was done is done again, by whoever gets it.
          tell_of_trouble(e)
          sleep(0.1)
        rescue RubyVM::ClosedError
          break
        end
      end
    end

    # A message that is none of a pool's is passed over: whatever it does must not end one worker after the other.
    def well_formed?(caller, number, options, block, items)
      String === caller && Integer === number && Hash === options && (block.nil? || String === block) && Array === items && Integer === options[:place]
    end

    def perform(caller, number, options, block, items)
      return unless alive?(caller)
      # Somebody took it and did not come to its end: a dead worker, or a connection that was down for long.
      return answer(caller, [:again, number, @id]) if @channel.attempt > 1
      text = block && block_text(block)
      setup = options[:setup] && block_text(options[:setup])
      return answer(caller, [:missing, number, @id]) if (block && !text) || (options[:setup] && !setup)
      job = RubyVM::Pool.const_get(:Worker).far([block, text, @key, options[:setup], setup, @progress, options[:quiet]])
      at_work(AtWork.new(caller, job)) do
        next beside_others { execute(caller, number, options, job, items) } unless options[:alone]
        by_itself do
          answer(caller, [:began, number, @id])
          execute(caller, number, options, job, items)
        end
      end
    rescue Abandoned
      # Nobody wants to know.
      nil
    end

    def at_work(chunk)
      @lock.synchronize { @at_work << chunk }
      yield
    ensure
      @lock.synchronize { @at_work.delete_if { |one| one.equal?(chunk) } }
    end

    def beside_others
      @lock.synchronize do
        @changed.wait(@lock) while @alone
        @running += 1
      end
      begin
        yield
      ensure
        @lock.synchronize do
          @running -= 1
          @changed.broadcast
        end
      end
    end

    # Runs what may end the process while nothing else runs here that could have ended it; if others take too long, beside them. For a moment nobody begins anything, then for a while all go on.
    def by_itself
      @lock.synchronize do
        by = RubyVM::Cluster.now + ALONE_AFTER
        while true
          @changed.wait(@lock) while @alone
          @alone = true
          break if wait_for(QUIET) { @running == 0 } || RubyVM::Cluster.now > by
          @alone = false
          @changed.broadcast
          wait_for(4 * QUIET) { @running == 0 }
        end
      end
      begin
        yield
      ensure
        @lock.synchronize do
          @alone = false
          @changed.broadcast
        end
      end
    end

    # Under the lock: whether the block is true in time.
    def wait_for(seconds)
      by = RubyVM::Cluster.now + seconds
      until yield
        left = by - RubyVM::Cluster.now
        return false if left <= 0
        @changed.wait(@lock, left)
      end
      true
    end

    def execute(caller, number, options, job, items)
      results = []
      bytes = 0
      place = options[:place]
      sent = RubyVM::Cluster.now
      @pool.stream(items, errors: :return, timeout: options[:timeout], &job).each do |result|
        results << (one = told(result, options[:timeout]))
        bytes += one[1].bytesize if one[1]
        next if RubyVM::Cluster.now - sent < SEND_AFTER && bytes < TOGETHER
        tell(caller, number, place, results)
        place += results.size
        results = []
        bytes = 0
        sent = RubyVM::Cluster.now
      end
      tell(caller, number, place, results) unless results.empty?
    end

    # A server may refuse for long, each worker again and again.
    def tell_of_trouble(error)
      known = @lock.synchronize { [@trouble&.message, @trouble = error].first }
      warn "zakuro worker: #{error.message}" unless known == error.message
    end

    # Results, in as many messages as the server wants. What it takes in none, or has no room for however often it is asked, is an error of its job.
    def tell(caller, number, place, results)
      patiently { answer(caller, [:done, number, @id, place, results, itself]) }
    rescue TooLarge, Refused => e
      if results.size > 1
        half = results.size / 2
        tell(caller, number, place, results.first(half))
        tell(caller, number, place + half, results.drop(half))
      else
        patiently { answer(caller, [:done, number, @id, place, [too_large(*results[0], e)], itself]) }
      end
    end

    # What is refused now, for want of memory perhaps, may be taken soon.
    def patiently
      pauses = PAUSES.dup
      begin
        yield
      rescue Refused => e
        tell_of_trouble(e)
        pause = pauses.shift or raise
        sleep(pause)
        retry
      end
    end

    # Instead of a result, or of an exception with all that it holds.
    def too_large(kind, _bytes, seconds, text = nil, _chain = nil, error)
      return [kind, nil, seconds, "#{text.scrub[0, 10_000]} (the exception can't be sent: #{error.message})"] unless kind == :value
      @lock.synchronize { @errors += 1 }
      [:exception, nil, seconds, "its result can't be sent: #{error.message}"]
    end

    # Whether a VM of the pool, which has ended, was at its set-up.
    def at_set_up?(vm)
      @lock.synchronize do
        hear_of_set_ups
        @setting_up.delete(vm)
      end
    end

    def hear_of_set_ups
      while (name, at_it = @progress.try_recv)
        at_it ? @setting_up[name] = true : @setting_up.delete(name)
      end
    end

    # `timeout`: that of the job.
    def told(result, timeout)
      if RubyVM::Pool::JobError === result
        if result.kind == :end && at_set_up?(result.vm) && !result.message.end_with?(KILLED)
          count(0.0, failed: true)
          text = result.message.sub(/\Ajob \d+: /, "")
          return [:setup, nil, 0.0, text, [["RubyVM::Error", text, nil]]]
        end
        cause = result.cause
        bytes, chain, seconds = cause && (cause.instance_variable_get(:@__packed) || Job.packed(cause))
        seconds = timeout if result.kind == :timeout
        count(seconds ||= 0.0, failed: true)
        return [result.kind, bytes, seconds, result.message.sub(/\Ajob \d+: /, ""), chain]
      end
      if result[0] == :setup
        _, text, bytes, chain = result
        count(0.0, failed: true)
        return [:setup, bytes, 0.0, text, chain]
      end
      bytes, seconds = result
      count(seconds)
      [:value, bytes, seconds]
    end

    def count(seconds, failed: false)
      @lock.synchronize do
        @jobs += 1
        @errors += 1 if failed
        @busy += seconds
      end
    end

    # The way back to a pool, for as long as there is one: it makes the channel and takes it off the server.
    def answer(caller, message)
      channel = @lock.synchronize do
        if @results.size >= 50 && !@results.key?(caller)
          old = @results.shift[1]
          Thread.new { old.disconnect }
        end
        @results[caller] ||= @remote.at(@address.with_name("#{@address.name}.results.#{caller}"), key: @key, timeout: @timeout, foreign: true)
      end
      until channel.send(message, timeout: ANSWER)
        raise Abandoned unless alive?(caller, 0)
      end
    end

    # Whether somebody waits for the results, as was known so many seconds ago.
    def alive?(caller, ago = 2)
      at = RubyVM::Cluster.now
      known = @lock.synchronize { @callers[caller] }
      return at - known[1] < @silent if known && at - known[2] < ago
      beat = @store.get("caller.#{caller}")
      return false unless beat
      heard = known && known[0] == beat ? known[1] : at
      @lock.synchronize do
        @callers.shift while @callers.size >= 1000
        @callers[caller] = [beat, heard, at]
      end
      at - heard < @silent
    end

    # A job whose pool is gone would keep its VM for as long as it likes: for ever, if it hangs.
    def end_jobs_of_the_gone
      now = RubyVM::Cluster.now
      # While the server was away, or this process stopped, nobody could be heard.
      missed = now - (@listened || now)
      @lock.synchronize { @callers.each_value { |known| known[1] += missed } } if missed > 3 * BEAT
      @listened = now
      chunks = @lock.synchronize { @at_work.dup }
      chunks.group_by(&:caller).each do |caller, of_it|
        next if alive?(caller)
        # Taken off the server when it left: from then on.
        heard = @lock.synchronize { (@callers[caller] ||= [nil, now, now])[1] }
        next if now - heard < @silent
        ended = of_it.sum { |chunk| @pool.__send__(:abandon, chunk.job, Abandoned.new("its pool is gone")) }
        warn "zakuro worker: #{ended == 1 ? "a job was ended" : "#{ended} jobs were ended"}: the pool that waited for #{ended == 1 ? "it" : "them"} is gone" if ended > 0
      end
    end

    # Results that nobody will fetch any more: their callers have been silent for long enough, twice.
    def sweep
      now = RubyVM::Cluster.now
      return if now - @swept < [SWEEP, @silent].min
      @swept = now
      found = @store.channels("#{@address.name.tr("/", @address.nats? ? "." : "/")}.results.").reject { |caller, _| alive?(caller) }
      @quiet.select! { |caller, _| found.key?(caller) }
      # The ways to pools that have left and taken their results with them.
      gone = @lock.synchronize { @results.keys }.reject { |caller| found.key?(caller) || alive?(caller) }
      gone.each { |caller| @lock.synchronize { @results.delete(caller) }&.disconnect }
      found.each do |caller, channel|
        next if now - (@quiet[caller] ||= now) < @silent
        @store.drop(channel)
        @store.remove("caller.#{caller}")
        @quiet.delete(caller)
        @lock.synchronize { @results.delete(caller) }&.disconnect
      end
    end

    def block_text(name)
      known = @lock.synchronize { @blocks[name] }
      return known if known
      text = @store.get(name) or return
      @lock.synchronize do
        @blocks.shift while @blocks.size >= BLOCKS || (!@blocks.empty? && @blocks.sum { |_, one| one.bytesize } + text.bytesize > BLOCK_BYTES)
        @blocks[name] = text
      end
    end

    # Who it is, and what it has done so far.
    def itself
      busy = @busy / (RubyVM::Cluster.now - @start + 1e-9) / @pool.size
      [@host, Process.pid, @pool.size, @jobs, @errors, busy, @beat, @mark, @lock.synchronize { @at_work.map(&:caller) }]
    end

    # As long as there are jobs, also when it takes no more: those whose pool is gone would keep it from its end.
    def tell_of_itself
      require "json"
      while true
        begin
          unless @stopped
            @beat += 1
            @store.put("worker.#{@id}", JSON.generate(itself), 10)
          end
          @lock.synchronize { hear_of_set_ups }
          end_jobs_of_the_gone
          unless @stopped
            sweep
            look_for_strangers
          end
        rescue Error
          nil
        end
        sleep(BEAT)
      end
    end

    # Pools of this name whose jobs don't come here, because they have another key: whoever runs the worker may wonder why it has nothing to do. Each is told of once, when it has been seen to be alive.
    def look_for_strangers
      now = RubyVM::Cluster.now
      return if now - @looked < @pause
      @looked = now
      found = @store.list("caller.").select { |_, text| (mark = text.split(" ")[1]) && mark != (@mark || "-") }
      known, @strangers = @strangers, {}
      found.first(1000).each do |caller, text|
        before = known[caller]
        @strangers[caller] = before == true || (before && before != text && stranger(text)) || text
      end
      # Those that are new are soon known to live.
      @pause = @strangers.any? { |caller, _| !known.key?(caller) } ? STRANGERS.begin : [2 * @pause, STRANGERS.end].min
    end

    # Nobody has signed what it says.
    def stranger(text)
      _, mark, place = text.split(" ")
      place = "one that does not say where" unless place&.match?(/\A[\w.:-]{1,200}\z/)
      keys = if !@mark then "a key, and this worker has none (--key-file)"
             elsif mark == "-" then "no key, and this worker has one (key:)"
             else "another key than this worker (--key-file)"
             end
      warn "zakuro worker: a pool at #{@address}, of #{place}, has #{keys}: its jobs do not come here"
      true
    end
  end
  private_constant :Job, :Worker
end
