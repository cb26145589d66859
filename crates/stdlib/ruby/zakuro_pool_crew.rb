# The VMs of a pool: which has what to do, what they answered, how they end and are replaced (docs/pools.md). All of it runs in `Pool#locked`, where no interrupt cuts it in two: but for what packs a
# job, which may run the program's code.
class RubyVM::Pool
  # A VM of the pool, from its start to its end. Its place (`index`) is taken by the next one.
  class Member # :nodoc:
    attr_reader :number, :index, :inbox, :out, :exceptions, :chunks
    attr_accessor :since, :taken, :ready, :worked, :condemned, :condemned_in, :begun, :leaves, :leave_by, :at, :place, :count

    def initialize(number, index, name)
      @number, @index = number, index
      @started = []
      # ObjectSpace shows none of them: what a job does to one would be felt by others.
      @inbox, @out, @exceptions = %w[jobs results exceptions].map { |what| RubyVM::Channel.__hidden("#{name} #{what}") }
      # What it was sent and has not answered, and the blocks that it has.
      @chunks = []
      @blocks = {}
      # Numbers of messages: of each chunk, the last one, and those that may be in the inbox, oldest first (nil: one without a number).
      @numbers = {}.compare_by_identity
      @sent = 0
      @queued = []
      # When the job that it is at began, as far as the pool knows, and whether it said that it has begun with the chunk of that job.
      @since = nil
      @taken = @ready = @worked = false
      # The number of the job that took too long, its chunk, and when it began; whether it said that it is going, or at which place in its chunk it was.
      @condemned = @condemned_in = @begun = @leaves = @leave_by = @at = nil
      # Of the values that come next.
      @place = @count = 0
    end

    # nil: it was not started.
    def vm = @started.first

    # The block starts the VM, and puts it into an Array before it does: so no interrupt can come before it is known here.
    def start(events)
      yield @started
      vm.monitor(events, @number)
      # Whatever becomes of the VM whose pool it is.
      RubyVM.current.__send__(:__take_along, vm, @inbox)
    end

    # Nobody listens to it any more.
    def forsake
      RubyVM.current.unmonitor(@inbox)
      vm&.kill(grace: 0)
    end

    # Returns the exception that says why something in it can't be sent, else nil. An interrupt may come while it is packed: then it is not sent.
    def send(chunk, now)
      task = chunk.task
      message = task.message(chunk)
      message << task.block if task.block && !@blocks[task.number]
      number = @sent += 1
      error = @inbox.__send__(:__send_numbered, message, number)
      return error if error
      queued(number)
      @numbers[chunk] = number
      # With which message it got the block.
      @blocks[task.number] = number if message.size > 4
      @since = now if @chunks.empty?
      @chunks << chunk
      nil
    end

    # It takes the oldest ones.
    def queued(number)
      @queued << number
      trim
    end

    def trim
      @queued.shift while @queued.size > @inbox.size
    end

    # Whether it has taken the chunk that it has to do next out of its inbox: it may be opening it.
    def taken?
      trim
      @taken || !@queued.include?(@numbers[@chunks.first])
    end

    # The chunk that it had to do is done, or others have it.
    def shift = @chunks.shift.tap { |chunk| @numbers.delete(chunk) }

    def forget(number)
      return unless @blocks.delete(number)
      @inbox << number
      queued(nil)
    rescue RubyVM::ClosedError
      nil
    end

    # It does not have the block, whatever it was sent.
    def lacks(number) = @blocks.delete(number)

    # Takes back what the VM has not begun with: the chunks, oldest first. The VM may take one of them meanwhile, so they are known by what they begin with.
    def take_back
      taken = []
      forgotten = nil
      until @inbox.empty?
        # What it does not answer with its number is the number of a block.
        number = @inbox.__send__(:__take) or break
        if Array === number
          @queued.delete_at(@queued.index(nil) || @queued.size)
          (forgotten ||= []) << number[0]
          next
        end
        @queued.delete(number)
        chunk = @chunks.find { |c| @numbers[c] == number } or next
        @blocks.delete(chunk.task.number) if @blocks[chunk.task.number] == number
        taken << chunk
        @chunks.delete(chunk)
        @numbers.delete(chunk)
      end
      forgotten&.each do |number|
        @inbox << number
        queued(nil)
      end
      taken
    end

    def deadline
      return @leave_by if @leave_by
      return unless @since && @ready && !@condemned && (chunk = @chunks.first)
      limit = chunk.task.timeout_of(chunk.item)
      limit && @since + limit
    end
  end
  private_constant :Member

  # What those who give out work have in common, be it to VMs or to other machines: the count of jobs, and who waits for them.
  module Finishing # :nodoc:
    # Whether the thread that asks has a call under way that ends after it has gone on.
    def waits_for_us? = @tasks.any?(&:ours?)

    # Whether there are jobs that nobody has.
    def waiting? = @line.any?(&:pending?)

    def add(task)
      task.line = @line
      return if @tasks.include?(task)
      return @tasks << task unless task.loose?
      ObjectSpace.define_finalizer(task, Finishing.dropped(@events, task.number))
    end

    def remove(task)
      @tasks.delete(task)
      @line.delete(task)
      ObjectSpace.undefine_finalizer(task) if task.loose?
      forget(task.number) if task.number
    end

    # What a task does that was collected: nobody needs its block.
    def self.dropped(events, number)
      lambda do |_|
        events << [:dropped, number]
      rescue RubyVM::ClosedError
        nil
      end
    end

    # All of them come to their end by an error, and those that the crew does not know any more when they go on.
    def drop(error)
      @over = error
      (@tasks + @line + under_way.map(&:task)).uniq.each { |task| task.break_down(error) }
    end

    private

    # The next tasks' turn.
    def next_chunk(*limits)
      while (task = @line.shift)
        chunk = task.take(*limits)
        return chunk if chunk
      end
    end

    # The chunk's job at hand has come to its end.
    def finish(chunk, value, error)
      @jobs += 1
      @errors += 1 if error
      index, item = chunk.index, chunk.item
      chunk.done += 1
      chunk.task.finish(index, value, error, item)
    end
  end
  private_constant :Finishing

  # Starts VMs, gives them work, reads their answers.
  class Crew # :nodoc:
    include Finishing

    # What a VM has at most: the chunk that it is at, and the next one.
    DEPTH = 2
    # How often it is looked, at most, whether a VM has begun a job that has a time limit, in seconds.
    LOOK = 0.001
    # So many may end, one after the other, before one has begun with a job.
    UNREADY = 100
    # What a VM ends with whose job has changed methods that the pool's program in it works with (crates/core-vms/src/vm_api/worked_with.rs).
    CHANGED_STATUS, CHANGED = 76, "exit status 76: a job has changed methods of the core's that the pool works with there"
    # What a VM has to end in unless the pool says otherwise, as `kill` gives it, and when the pool closes.
    GRACE, CLOSING = 1.0, 10.0

    attr_reader :events, :restarts, :timeouts, :errors, :retries, :jobs, :busy, :times, :failed, :over

    def initialize(pool, size, source, limits, grace)
      @pool, @size, @source, @limits, @grace = pool, size, source, limits, grace
      @events = RubyVM::Channel.__hidden("#{pool.name} events")
      @tasks, @line = [], []
      @members = {}
      @last = @unready = 0
      @restarts = @timeouts = @errors = @retries = @jobs = 0
      @busy = Array.new(size, 0.0)
      @times = Times.new
    end

    # Whatever interrupts this, `forsake` knows all that were started.
    def open = @size.times { |index| start(index) }

    def start(index)
      number = @last += 1
      name = "#{@pool.name}-#{index}"
      member = Member.new(number, index, name)
      given = { number:, index:, inbox: member.inbox, out: member.out, exceptions: member.exceptions, events: @events, setup: @source[:setup] }
      @members[number] = member
      member.start(@events) { |into| @source[:image] ? Worker.spawn(@source[:image], name, @limits, given, into) : Worker.load_in(@source[:file], name, @limits, given, into) }
    rescue Exception
      # (A kill leaves it to others to forsake.)
      member&.forsake
      @members.delete(number)
      raise
    end

    # Ends all without waiting for them: not all could be started, or nobody is left who hears of their ends.
    def forsake
      @members.each_value(&:forsake)
      @members.clear
    end

    # Whether nothing is left that a pool has to do before it closes.
    def idle? = @tasks.none?(&:keeps_open?) && !waiting? && @members.each_value.all? { |member| member.chunks.empty? }
    def members = @members.each_value
    def gone? = @members.empty?

    # Hands out what there is to do: first to those who have nothing. Tasks take turns.
    def dispatch
      return if @failed
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      DEPTH.times { |depth| hand_out(depth, now) }
      # Nothing is left: who has nothing gets what others have not begun with.
      idle = @members.each_value.count { |member| member.chunks.empty? && free?(member) && member.ready }
      return if idle == 0
      loaded = @members.each_value.select { |member| member.chunks.size == DEPTH }
      return if loaded.empty?
      loaded.first(idle).each { |member| member.take_back.each { |chunk| chunk.task.put_back(chunk) } }
      hand_out(0, now)
    end

    # Waits for nobody: what the VMs told.
    def handle(event)
      case event
      when Array
        number, told = event
        return forget(told) if number == :dropped
        member = @members[number] or return
        case told
        when :ready
          member.ready = true
          member.since = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        when Failure then @pool.__send__(:set_up_failed, exception_of(told, member), "#{told.message} (#{told.name})")
        else
          sum = told.sum
          member.chunks.first&.task&.took(sum, told.size)
          read(member)
          @busy[member.index] += sum
          @times.add(told)
        end
      when Integer
        member = @members[event]
        ended(member) if member
      end
    end

    # Ends what is done with a block: VMs that have begun with it end.
    def abandon(block, error)
      (@tasks + @line).uniq.each { |task| task.break_down(error) if task.block.equal?(block) }
      @members.each_value.count do |member|
        read(member)
        chunk = member.chunks.find { |c| c.task.block.equal?(block) } or next
        chunk.task.break_down(error)
        member.take_back.each { |c| c.task.put_back(c) }
        # What it may have taken meanwhile comes after what it has answered.
        read(member)
        member.chunks.first.equal?(chunk) && !member.condemned && condemn(member)
      end
    end

    # When the next job will have taken too long; nil when none can.
    def deadline = @members.each_value.filter_map(&:deadline).min

    # Ends VMs whose job takes too long.
    def expire
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      @members.each_value do |member|
        at = member.deadline
        next unless at && at <= now
        if member.leave_by
          # Its `at_exit` blocks and other threads have had their time.
          member.leave_by = nil
          next member.vm.kill(grace: 0)
        end
        read(member)
        at = member.deadline
        next unless at && at <= now
        chunk = member.chunks.first
        unless member.taken?
          # A job that waits in the inbox takes no time: its VM had no turn yet.
          member.since = [now, now + LOOK - chunk.task.timeout_of(chunk.item)].max
          next
        end
        condemn(member)
      end
    end

    def close
      @members.each_value do |member|
        member.inbox.close
        leave_within(member, @grace[:grace] || CLOSING)
      end
    end

    def kill(**how)
      @members.each_value { |member| member.vm&.kill(**how) }
    end

    # No VM starts and no job is handed out any more.
    def fail(error)
      @failed = error
      drop(error)
      @members.each_value do |member|
        member.chunks.each { |chunk| chunk.items.drop(chunk.done).each_with_index { |item, i| chunk.task.finish(chunk.index + i, nil, error, item) } }
        member.chunks.clear
      end
    end

    private

    def under_way = @members.each_value.flat_map(&:chunks)
    def forget(number) = @members.each_value { |member| member.forget(number) }

    # A job ends its VM.
    def leaves(member)
      member.leaves = true
      leave_within(member, @grace[:grace] || GRACE)
    end

    def leave_within(member, seconds)
      member.leave_by = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    end

    # Its VM ends, since the job that it is at does not.
    def condemn(member)
      member.condemned_in = member.chunks.first
      member.condemned = member.condemned_in.index
      member.begun = member.since
      member.vm.kill(**@grace)
      true
    end

    def free?(member) = !member.condemned && !member.leaves

    # A chunk to each who has no more than `depth`.
    def hand_out(depth, now)
      @members.each_value do |member|
        next if member.chunks.size > depth || !free?(member)
        give(member, next_chunk(@size) || return, now)
      end
    end

    def give(member, chunk, now)
      tried = false
      error = member.send(chunk, now)
      tried = true
      return unless error
      # One of them can't be sent; the others can.
      return singly(chunk) if chunk.items.size > 1
      # The way to it begins at the object, or at the list of arguments.
      unsent = TypeError.new("it can't be sent to a VM of the pool: #{Words.message_of(error).sub(chunk.task.block ? "$[2][0]" : "$[2][0][1]", "$")}")
      unsent.set_backtrace(Words.backtrace_of(error))
      finish(chunk, nil, JobError.of(:exception, chunk.index, member.vm.name, unsent.message, unsent))
    ensure
      # An interrupt of who hands it out.
      chunk.task.put_back(chunk) unless tried
    end

    # Answers to jobs, in their order.
    def read(member)
      out = member.out
      return if out.empty?
      since = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      until out.empty?
        answer = begin
          out.try_recv
        rescue Exception => e
          # Of any kind: its classes run methods of the program here.
          e
        end
        chunk = member.chunks.first or break
        case answer
        when Float
          # Not twice with one.
          return broken(member, chunk) if member.taken
          # It has begun with the chunk.
          member.taken = member.worked = true
          @unready = 0
          since = answer
          next
        when Integer
          # Of the values that follow.
          member.place, member.count = answer >> 16, answer & 0xffff
          next
        when Array
          # A VM that was killed may have sent some twice.
          twice = chunk.done - member.place
          answer = answer.drop(twice) if twice > 0
          return broken(member, chunk) if twice < 0 || answer.size > chunk.left
          keep(chunk, answer)
        when Failure
          if answer.place == chunk.done
            leaves(member) if answer.kind == :ends
            fail_job(member, chunk, *told_by(answer, member))
          end
        when Unreadable then unreadable(member, answer)
        when At then member.at = answer.job
        else
          others = member.count > 1 ? ", or that of another job that was sent with it," : ""
          message = "its result#{others} can't be used here: #{Words.of(answer)}"
          (member.place + member.count - chunk.done).clamp(0, chunk.left).times { fail_job(member, chunk, :exception, message, answer) }
        end
        member.shift if chunk.done? && member.chunks.first.equal?(chunk)
        member.taken = false unless member.chunks.first.equal?(chunk)
        since = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
      member.since = since
    end

    # Its answers are not of what it was asked: a job has changed what its VM works with. The one that it is at has an error, so that all come to an end.
    def broken(member, chunk)
      fail_job(member, chunk, :end, "its VM ended: #{CHANGED}", nil)
      member.shift if chunk.done?
      member.leaves = true
      member.vm.kill(grace: 0)
    end

    def keep(chunk, values)
      @jobs += values.size
      chunk.task.finish_all(chunk, values)
      chunk.done += values.size
    end

    def told_by(failure, member)
      return [:exception, "its result can't be sent: #{failure.message}", TypeError.new(failure.message)] if failure.kind == :unsendable
      cause = exception_of(failure, member)
      [failure.kind == :ends ? :end : :exception, "#{failure.message} (#{failure.name})", cause]
    end

    # The exception of a VM; one that tells the same, when this VM can't have it.
    def exception_of(failure, member)
      found = begin
        member.exceptions.try_recv
      rescue StandardError, LoadError
        nil
      end
      return found if Exception === found
      error = RuntimeError.new("#{failure.message} (#{failure.name})")
      error.set_backtrace(failure.backtrace || [])
      # Of a job of another machine: only there somebody may have its class.
      error.instance_variable_set(:@__packed, found) if Array === found
      error
    end

    # A chunk that the VM could not open: each of its jobs alone, at last each with an error.
    def unreadable(member, failure)
      chunk = member.shift
      member.lacks(chunk.task.number)
      if !failure.message
        chunk.task.put_back(chunk)
      elsif chunk.items.size > 1
        singly(chunk)
      else
        fail_job(member, chunk, :exception, "it can't be opened in the pool's VM, which has the program as it was when the pool was made: #{failure.message}", nil)
      end
    end

    def fail_job(member, chunk, kind, message, cause)
      if chunk.task.again?(chunk.index, chunk.item)
        @retries += 1
        chunk.done += 1
      else
        finish(chunk, nil, JobError.of(kind, chunk.index, member.vm.name, message, cause))
      end
    end

    # A VM has ended: by a job's doing, by a limit, because it was killed, or since the pool closes.
    def ended(member)
      read(member)
      member.take_back.each { |chunk| chunk.task.put_back(chunk) }
      RubyVM.current.unmonitor(member.inbox)
      @members.delete(member.number)
      member.inbox.close
      bury(member)
      return if @failed || @pool.__send__(:ending?)
      # (Over a time limit it may come while it waits for a job.)
      unless member.worked || member.condemned || (member.ready && member.vm.report[:limit])
        # Whoever killed it need not have meant the set-up.
        @unready += 1
        by_itself = !member.ready && member.vm.report[:kind] != :killed
        if by_itself || @unready > UNREADY
          often = by_itself ? "" : " before it had a job, #{@unready} times"
          return @pool.__send__(:set_up_failed, RubyVM::Error.new("its VM ended#{often}: #{why(member.vm)}"))
        end
      end
      @restarts += 1
      begin
        start(member.index)
      rescue StandardError => e
        @pool.__send__(:set_up_failed, e)
      end
    end

    # What the VM was at: the job that ended it, and what follows, which was not begun. Which one it was is certain when there is one only, or the VM said so; else they are done
    # again, each by itself.
    def bury(member)
      chunk = member.chunks.first or return
      late = member.condemned == chunk.index && member.condemned_in.equal?(chunk) && !chunk.task.error
      # It may have ended between two jobs.
      if !member.leaves && (late || !member.condemned) && (member.at.nil? || member.at == chunk.done)
        if chunk.items.size - chunk.done == 1 || member.at
          if late
            @timeouts += 1
            took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - member.begun
            @busy[member.index] += took
            @times.add([took])
            fail_job(member, chunk, :timeout, "it took longer than #{chunk.task.timeout_of(chunk.item)} s", nil)
          else
            fail_job(member, chunk, :end, "its VM ended: #{why(member.vm)}", nil)
          end
        else
          singly(chunk)
          member.shift
        end
      end
      member.chunks.each { |c| c.task.put_back(c.rest) }
      member.chunks.clear
    end

    # Each job that has no answer by itself.
    def singly(chunk) = chunk.each_alone { |alone| alone.task.put_back(alone) }

    def why(vm)
      report = vm.report
      case report[:kind]
      when :killed then "it was killed"
      when :exited then report[:status] == CHANGED_STATUS ? CHANGED : "exit status #{report[:status]}"
      else report[:exception] && !report[:limit] ? "#{report[:message]} (#{report[:exception]})" : report[:message]
      end
    end
  end
  private_constant :Crew
end
