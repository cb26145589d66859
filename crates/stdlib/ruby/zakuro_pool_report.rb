# What a pool tells: how long jobs took, how busy its VMs were, a bar while one waits; and how many VMs make sense (docs/pools.md).
class RubyVM::Pool
  # Times of jobs, in seconds: number, sum and extremes of all, the others from a sample of at most some thousands, evenly over all.
  class Times # :nodoc:
    MOST = 4_096

    attr_reader :count, :sum, :min, :max

    def initialize
      @count = 0
      @sum = 0.0
      @sample = []
      @stride = 1
    end

    def add(list)
      return if list.empty?
      first, last = list.minmax
      @min = first if !@min || first < @min
      @max = last if !@max || last > @max
      @sum += list.sum
      if @stride == 1
        @sample.concat(list)
      else
        # Each stride-th of all.
        i = -@count % @stride
        while i < list.size
          @sample << list[i]
          i += @stride
        end
      end
      @count += list.size
      while @sample.size > MOST
        @sample = @sample.each_slice(2).map(&:first)
        @stride *= 2
      end
    end

    # The time that this part of the jobs stayed below.
    def quantile(part)
      return if @sample.empty?
      sorted = @sample.sort
      sorted[((sorted.size - 1) * part).round]
    end
  end
  private_constant :Times

  # What a pool has done: `jobs` (of them `errors`), `retries`, `restarts` (VMs replaced), `timeouts`; `time`, a Hash of `:min`, `:median`, `:p95`, `:max` and `:sum` of what
  # jobs took, in seconds; `busy`, for each of its VMs the share of `elapsed` in which it ran jobs. With `connect:` it is for each worker, `restarts` counts chunks that were told again, and `machines` has
  # a Hash for each worker: `:host`, `:pid`, `:size`, `:jobs`, `:errors`, `:busy`, `:ended`, and `:fits`, whether it has the pool's key; else nil. `hint` tells why jobs wait that nobody does, or what broke the pool, if so.
  Report = Data.define(:name, :size, :elapsed, :jobs, :errors, :retries, :restarts, :timeouts, :time, :busy, :machines, :hint) do
    # The report as a few lines of text.
    def to_s
      of = ->(seconds) { seconds ? Report.seconds(seconds) : "-" }
      <<~TEXT
        pool #{name}: #{size} VMs, #{jobs} jobs in #{of[elapsed]}#{", #{errors} failed" if errors > 0}#{", #{timeouts} timed out" if timeouts > 0}
        time per job: min #{of[time[:min]]}, median #{of[time[:median]]}, 95% #{of[time[:p95]]}, max #{of[time[:max]]}
        VMs busy: #{busy.map { |share| "#{(share * 100).round}%" }.join(" ")}
        retries #{retries}, #{machines ? "chunks told again" : "VMs replaced"} #{restarts}
      TEXT
        .concat(*machines&.map { |m| "#{m[:host]}:#{m[:pid]}: #{m[:size]} VMs, #{m[:jobs]} jobs#{", #{m[:errors]} failed" if m[:errors] > 0}, busy #{(m[:busy] * 100).round}%#{", gone" if m[:ended]}#{", another key" unless m[:fits]}\n" })
        .concat(hint ? "#{hint}\n" : "")
    end

    # A time in the unit that suits it.
    def self.seconds(seconds) # :nodoc:
      case seconds
      when 0...1e-3 then format("%.1f us", seconds * 1e6)
      when 1e-3...1 then format("%.1f ms", seconds * 1e3)
      else format("%.1f s", seconds)
      end
    end
  end

  # A bar on a terminal's standard error; anywhere else nothing.
  class Progress # :nodoc:
    EVERY = 0.1

    # What stands before the bar, as a Proc.
    attr_writer :note

    def self.for(asked, total, stream = $stderr)
      raise TypeError, "progress: must be true or a text, not #{asked.class}" unless asked.nil? || true == asked || false == asked || String === asked
      return unless asked && stream.respond_to?(:tty?) && stream.tty?
      new(String === asked ? asked : nil, total, stream)
    end

    def initialize(label, total, stream)
      @label, @total, @stream = label, total, stream
      @start = now
      @drawn = 0
    end

    def show(done, failed)
      at = now
      return if at - @drawn < EVERY
      @drawn = at
      draw(done, failed, at)
    end

    def finish(done, failed)
      draw(done, failed, now)
      @stream.print("\n")
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def draw(done, failed, at)
      rate = done / (at - @start + 1e-9)
      tail = " #{done}#{"/#{@total}" if @total}#{format(" %.*f/s", rate < 100 ? 1 : 0, rate)}"
      tail << " #{failed} failed" if failed > 0
      tail << " #{remaining((@total - done) / rate)} left" if @total && done > 0 && done < @total
      head = "#{"#{@label} " if @label}#{@note&.call}"
      width = columns - head.size - tail.size - 8
      if @total && width > 5
        full = @total == 0 ? width : (width * done / @total).clamp(0, width)
        head << "[#{"#" * full}#{"." * (width - full)}]" << format("%4d%%", @total == 0 ? 100 : done * 100 / @total)
      end
      @stream.print("\r#{(head + tail)[0, columns - 1]}\e[K")
      @stream.flush
    end

    def remaining(seconds)
      seconds = seconds.ceil
      seconds < 3600 ? format("%d:%02d", seconds / 60, seconds % 60) : format("%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60)
    end

    def columns
      require "io/console"
      found = @stream.winsize[1]
      found > 0 ? found : 80
    rescue SystemCallError, LoadError, NoMethodError
      80
    end
  end
  private_constant :Progress

  # Processors, as far as this process may use them.
  module Processors
    # Fewer VMs are not asked about. What one takes at least, in bytes.
    ALWAYS, VM_BYTES = 10_000, 32 << 10
    private_constant :ALWAYS, :VM_BYTES

    class << self
      # A Hash of `:logical` (those that the process may run on, hyper-threads counted each), `:physical` (cores among them) and `:quota` (what the control groups allow, in
      # processors, or nil).
      #
      #     RubyVM::Pool::Processors.count.keys   #=> [:logical, :physical, :quota]
      def count
        allowed = allowed_cpus
        { logical: allowed.size, physical: allowed.map { |n| core(n) }.uniq.size, quota: quota }
      end

      # How many VMs can compute at once without sharing a core: physical cores, fewer under a quota or RUBY_MAX_CPU.
      def cores
        found = count
        limits = [found[:physical], found[:quota]&.ceil, Integer(ENV["RUBY_MAX_CPU"], exception: false)]
        limits.compact.select { |n| n > 0 }.min || 1
      end

      # A number of VMs that the machine can have at all; ArgumentError for more.
      def vms(count) # :nodoc:
        return count if count <= ALWAYS
        most = [memory / VM_BYTES, ALWAYS].max
        raise ArgumentError, "size must be at most #{most}: that many VMs fill the memory, at #{VM_BYTES >> 10} KB each and without a job" if count > most
        count
      end

      private

      # In bytes: that of the machine, or less where control groups say so.
      def memory
        limits = [Integer(File.read("/proc/meminfo")[/^MemTotal: *(\d+)/, 1], exception: false)&.*(1024)]
        groups do |controllers, path|
          if controllers == ""
            limits.concat(above(path).map { |at| Integer(File.read("/sys/fs/cgroup#{at}/memory.max"), exception: false) rescue nil })
          elsif controllers.split(",").include?("memory")
            limits.concat(above(path).map { |at| Integer(File.read("/sys/fs/cgroup/memory#{at}/memory.limit_in_bytes"), exception: false) rescue nil })
          end
        end
        limits.compact.min || Float::INFINITY
      rescue SystemCallError
        Float::INFINITY
      end

      # Those that the process is in: their controllers and paths.
      def groups = File.readlines("/proc/self/cgroup", chomp: true).each { |line| yield(*line.split(":", 3).drop(1)) }

      def allowed_cpus
        list = File.foreach("/proc/self/status").find { |line| line.start_with?("Cpus_allowed_list:") }
        numbers(list.to_s.split(":")[1].to_s)
      rescue SystemCallError
        require "etc"
        (0...Etc.nprocessors).to_a
      end

      # "0-3,8" as numbers.
      def numbers(list)
        list.strip.split(",").flat_map do |part|
          first, last = part.split("-").map { |n| Integer(n, 10) }
          (first..(last || first)).to_a
        end
      end

      # What the hyper-threads of one core have in common.
      def core(number)
        File.read("/sys/devices/system/cpu/cpu#{number}/topology/thread_siblings_list").strip
      rescue SystemCallError
        number
      end

      # The narrowest of the groups that the process is in.
      def quota
        shares = []
        groups do |controllers, path|
          if controllers == ""
            shares.concat(above(path).map { |at| share(*File.read("/sys/fs/cgroup#{at}/cpu.max").split) rescue nil })
          elsif controllers.split(",").include?("cpu")
            shares.concat(above(path).map { |at| of_version_1("/sys/fs/cgroup/cpu#{at}") || of_version_1("/sys/fs/cgroup/#{controllers}#{at}") })
          end
        end
        shares.compact.min
      rescue SystemCallError
        nil
      end

      def above(path)
        parts = path.split("/").reject(&:empty?)
        (0..parts.size).map { |n| parts.first(n).map { |part| "/#{part}" }.join }
      end

      def of_version_1(at) = share(File.read("#{at}/cpu.cfs_quota_us"), File.read("#{at}/cpu.cfs_period_us")) rescue nil

      def share(quota, period)
        quota, period = Integer(quota, exception: false), Integer(period, exception: false)
        quota.fdiv(period) if quota && period && quota > 0 && period > 0
      end
    end
  end
end
