# `require "zakuro/parallel_gem"`: the interface of the gem `parallel` over pools of VMs (docs/pools.md): `Parallel.map(list, in_vms: 4) { ... }`. `in_processes:` and `in_ractors:` mean VMs, too; with `in_threads:` the
# block runs in threads of this VM, as there.
module Parallel
  # A source that is a Proc gives it when there is nothing more.
  Stop = Object.new.freeze

  # Raised in a block: nothing more is begun, and `value` is the result of the call.
  class Break < StandardError
    # `value`: What the call returns.
    attr_reader :value

    # A Break with a result.
    def initialize(value = nil)
      super("Parallel::Break")
      @value = value
    end

    def marshal_dump = [@value] # :nodoc:

    def marshal_load(data) # :nodoc:
      @value = data[0]
    end
  end

  # A Break that ends what runs as well.
  class Kill < Break; end

  class << self
    # The block's values, in the order of the objects.
    #
    #     Parallel.map([1, 2, 3], in_vms: 2) { |n| n * 2 }   #=> [2, 4, 6]
    def map(source, options = {}, &block)
      raise ArgumentError, "Parallel needs a block" unless block
      items = items_of(source)
      kind, count = workers(options)
      keep = options.fetch(:preserve_results, true)
      results = []
      start, finish = options.values_at(:start, :finish)
      indexed = options[:with_index]
      each_result(kind, count, items, options, indexed, block, start) do |index, value|
        results[index] = value if keep
        finish&.call(items[index], index, value)
      end
      keep ? results : source
    rescue Break => e
      e.value
    end

    # `map` whose block gets the index, too.
    def map_with_index(source, options = {}, &) = map(source, { **options, with_index: true }, &)

    # For what the block does; answers the source.
    def each(source, options = {}, &)
      map(source, { **options, preserve_results: false }, &)
    end

    # `each` whose block gets the index, too.
    def each_with_index(source, options = {}, &) = each(source, { **options, with_index: true }, &)

    # `map`, its Arrays put together.
    def flat_map(source, options = {}, &) = map(source, options, &).flatten(1)

    # `map` without what is nil or false.
    def filter_map(source, options = {}, &) = map(source, options, &).select { |value| value }

    # Whether the block is true for one of the objects.
    def any?(source, options = {}, &block) = map(source, options, &block).any?

    # Whether the block is true for all.
    def all?(source, options = {}, &block) = map(source, options, &block).all?

    # Logical processors that the process may use.
    def processor_count = RubyVM::Pool::Processors.count[:logical]

    # Cores that the process may use.
    def physical_processor_count = RubyVM::Pool::Processors.cores

    # In a block: the number of the VM or thread that it runs in, from 0; else nil.
    def worker_number = RubyVM::Pool.index || Thread.current[:parallel_worker_number]

    private

    def workers(options)
      known = %i[in_vms in_processes in_ractors in_threads]
      odd = options.keys.grep(/\Ain_/) - known
      raise ArgumentError, "unknown keyword: #{odd[0].inspect} (#{known.map { |name| "#{name}:" }.join(", ")})" unless odd.empty?
      kind = known.find { |name| options.key?(name) }
      count = kind ? Integer(options[kind] || physical_processor_count) : physical_processor_count
      raise ArgumentError, "#{kind} must not be negative" if count < 0
      [count == 0 ? :none : kind == :in_threads ? :threads : :vms, count]
    end

    def items_of(source)
      if source.respond_to?(:call) || Thread::Queue === source
        taken = []
        until (item = source.respond_to?(:call) ? source.call : source.pop).equal?(Stop)
          break if item.nil? && Thread::Queue === source && source.closed?
          taken << item
        end
        return taken
      end
      source.to_a
    end

    def each_result(kind, count, items, options, indexed, block, start, &told)
      case kind
      when :none
        items.each_with_index do |item, index|
          start&.call(item, index)
          told.call(index, indexed ? block.call(item, index) : block.call(item))
        end
      when :threads then in_threads_of(count, items, indexed, block, start, &told)
      else in_vms(count, items, options[:progress], indexed, block, start, &told)
      end
    end

    def in_vms(count, items, progress, indexed, block, start)
      RubyVM::Pool.open(size: [count, items.size].min.clamp(1..)) do |pool|
        pairs = items.each_with_index.lazy.map { |item, index| start&.call(item, index); [item, index] }
        job = indexed ? ->(pair) { [pair[1], block.call(*pair)] } : ->(pair) { [pair[1], block.call(pair[0])] }
        pool.stream(pairs, ordered: false, progress: progress || false, &job).each { |index, value| yield index, value }
      rescue RubyVM::Pool::JobError => e
        raise e unless e.instance_of?(RubyVM::Pool::JobError) && e.cause
        raise e.cause
      end
    end

    def in_threads_of(count, items, indexed, block, start)
      left = items.each_with_index.to_a
      lock = Mutex.new
      failed = nil
      threads = Array.new([count, items.size].min) do |number|
        Thread.new do
          Thread.current[:parallel_worker_number] = number
          while !failed && (item, index = lock.synchronize { left.shift })
            begin
              lock.synchronize { start.call(item, index) } if start
              value = indexed ? block.call(item, index) : block.call(item)
              lock.synchronize { yield index, value }
            rescue Exception => e
              failed ||= e
              threads.each { |thread| thread.kill unless thread == Thread.current } if Kill === e
            end
          end
        end
      end
      threads.each(&:join)
      raise failed if failed
    end
  end
end
