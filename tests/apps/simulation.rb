# Discrete-event simulation of a small web shop: events in a heap, processes as Fibers, resources with queues, an LRU cache before a slow store,
# seeded random numbers, threads that each run an experiment, statistics kept while running, results compared with memoised theory.
# State: class variables, class-level ivars, a mutable constant of experiments, globals, thread locals, `srand`, finite memo tables, WeakMap tags.

srand(20_26)
$events = 0
$order = []

# A binary heap by a block's order.
class Heap
  include Enumerable

  def initialize(items = [], &order)
    @order = order || ->(a, b) { a <=> b }
    @items = []
    items.each { |item| push(item) }
  end

  def push(item)
    @items << item
    up(@items.size - 1)
    self
  end
  alias << push

  def pop
    return nil if @items.empty?
    top = @items.first
    last = @items.pop
    unless @items.empty?
      @items[0] = last
      down(0)
    end
    top
  end

  def peek = @items.first
  def size = @items.size
  def empty? = @items.empty?

  def each
    return enum_for(:each) { size } unless block_given?
    copy = self.class.new(@items, &@order)
    yield copy.pop until copy.empty?
  end

  private

  def up(i)
    while i.positive? && @order.call(@items[i], @items[(i - 1) / 2]).negative?
      @items[i], @items[(i - 1) / 2] = @items[(i - 1) / 2], @items[i]
      i = (i - 1) / 2
    end
  end

  def down(i)
    loop do
      least = [i, 2 * i + 1, 2 * i + 2].select { |j| j < @items.size }.min { |a, b| @order.call(@items[a], @items[b]) }
      break if least == i
      @items[i], @items[least] = @items[least], @items[i]
      i = least
    end
  end
end

# Least recently used first out; a doubly linked list beside a Hash.
class LRU
  Entry = Struct.new(:key, :value, :before, :after)
  @@instances = 0

  def self.instances = @@instances

  attr_reader :hits, :misses, :evicted

  def initialize(limit, &load)
    @@instances += 1
    @limit = limit
    @load = load
    @entries = {}
    @head = Entry.new
    @tail = Entry.new
    @head.after, @tail.before = @tail, @head
    @hits = @misses = @evicted = 0
  end

  def [](key)
    entry = @entries[key]
    if entry
      @hits += 1
      unlink(entry)
    else
      @misses += 1
      entry = @entries[key] = Entry.new(key, @load.call(key))
      evict if @entries.size > @limit
    end
    link(entry)
    entry.value
  end

  def keys
    entry = @head
    Enumerator.produce { (entry = entry.after).equal?(@tail) ? raise(StopIteration) : entry.key }.take_while { true }
  end

  def ratio = @hits.fdiv([@hits + @misses, 1].max)

  private

  def link(entry)
    entry.before, entry.after = @head, @head.after
    @head.after.before = entry
    @head.after = entry
  end

  def unlink(entry)
    entry.before.after, entry.after.before = entry.after, entry.before
  end

  def evict
    last = @tail.before
    unlink(last)
    @entries.delete(last.key)
    @evicted += 1
  end
end

# Mean and variance in one pass (Welford), mergeable.
class Tally
  include Comparable
  attr_reader :count, :mean, :max

  def initialize
    @count = 0
    @mean = 0.0
    @m2 = 0.0
    @max = -Float::INFINITY
  end

  def <<(x)
    @count += 1
    delta = x - @mean
    @mean += delta / @count
    @m2 += delta * (x - @mean)
    @max = x if x > @max
    self
  end

  def variance = @count < 2 ? 0.0 : @m2 / (@count - 1)
  def deviation = Math.sqrt(variance)
  def <=>(other) = mean <=> other.mean

  def merge(other)
    return self if other.count.zero?
    return other if count.zero?
    joined = self.class.new
    joined.set(count + other.count, (mean * count + other.mean * other.count) / (count + other.count), @m2 + other.m2 + (other.mean - mean)**2 * count * other.count / (count + other.count), [max, other.max].max)
  end

  def to_s = format("%.4f±%.4f (%d, max %.3f)", mean, deviation, count, max)

  protected

  attr_reader :m2

  def set(count, mean, m2, max)
    @count, @mean, @m2, @max = count, mean, m2, max
    self
  end
end

class Simulator
  Event = Struct.new(:time, :number, :what) do
    include Comparable
    def <=>(other) = [time, number] <=> [other.time, other.number]
  end

  TAGS = ObjectSpace::WeakMap.new
  @current_seed = 0

  class << self
    attr_accessor :current_seed
    def current = Thread.current[:simulator]
  end

  attr_reader :now, :random, :log

  def initialize(seed)
    @now = 0.0
    @number = 0
    @random = Random.new(seed)
    @events = Heap.new
    @log = []
    self.class.current_seed = seed
    # A WeakMap holds its values weakly, too.
    @label = TAGS[self] = "seed #{seed}"
  end

  def after(delay, &what)
    @events << Event.new(@now + delay, @number += 1, what)
  end

  # A process: a Fiber that yields how long it waits, or a Resource that it waits for.
  def process(name, start: 0.0, &body)
    fiber = Fiber.new do
      body.call
      :done
    end
    after(start) { step(name, fiber) }
  end

  def step(name, fiber)
    case (wish = fiber.resume)
    when Numeric then after(wish) { step(name, fiber) }
    when Resource then wish.enter { step(name, fiber) }
    when :done then @log << name if @log.size < 3
    else raise ArgumentError, "#{name} waits for #{wish.inspect}"
    end
  end

  def run(until_time)
    Thread.current[:simulator] = self
    while (event = @events.peek) && event.time <= until_time
      @events.pop
      @now = event.time
      $events += 1
      event.what.call
    end
    @now = until_time
    self
  ensure
    Thread.current[:simulator] = nil
  end

  def exponential(mean) = -mean * Math.log(1 - random.rand)
  def pick(list) = list[(random.rand**2 * list.size).floor]
  def tag = TAGS[self]
end

class Resource
  attr_reader :busy_time, :longest

  def initialize(simulator, places)
    @simulator = simulator
    @free = places
    @line = []
    @busy_time = 0.0
    @longest = 0
  end

  def enter(&go)
    if @free.positive?
      @free -= 1
      @simulator.after(0, &go)
    else
      @line << go
      @longest = [@longest, @line.size].max
    end
  end

  def leave(used)
    @busy_time += used
    following = @line.shift
    following ? @simulator.after(0, &following) : @free += 1
  end
end

# One experiment: visitors ask for pages; pages come from the cache or from a store with few connections.
class Experiment
  PAGES = ("a".."z").flat_map { |x| (1..4).map { |n| :"#{x}#{n}" } }.freeze
  RESULTS = {}
  @defaults = { servers: 2, cache: 20, visitors: 12, gap: 0.8 }

  class << self
    attr_reader :defaults

    def [](seed, **options)
      RESULTS[[seed, options]] ||= new(seed, **defaults, **options).run
    end
  end

  attr_reader :waits, :cache, :servers, :title

  def initialize(seed, servers:, cache:, visitors:, gap:)
    @simulator = Simulator.new(seed)
    @servers = Resource.new(@simulator, servers)
    @loads = Hash.new(0)
    @cache = LRU.new(cache) { |page| @loads[page] += 1; page.to_s.sum % 7 / 10.0 + 0.3 }
    @visitors = visitors
    @gap = gap
    @waits = Tally.new
    @title = "#{servers} servers, cache #{cache}"
  end

  def run
    at = 0.0
    @visitors.times do |i|
      at += @simulator.exponential(@gap)
      @simulator.process("visitor #{i}", start: at) { visit }
    end
    @simulator.run(at + 100)
    self
  end

  def visit
    (1 + @simulator.random.rand(3)).times do
      before = @simulator.now
      known = @cache.hits
      cost = @cache[@simulator.pick(PAGES)]
      if @cache.hits == known
        Fiber.yield @servers
        Fiber.yield cost
        @servers.leave(cost)
      else
        Fiber.yield 0.01
      end
      @waits << @simulator.now - before
      Fiber.yield @simulator.exponential(1.5)
    end
  end

  def hottest = @loads.max_by(2) { |page, n| [n, page] }.map(&:first)
  def summary = format("%s: wait %s, hits %.3f, line %d, busy %.2f, hot %s, %s", title, waits, cache.ratio, servers.longest, servers.busy_time, hottest.join("/"), @simulator.tag)
  def first_done = @simulator.log
  def tag = @simulator.tag
end

module Theory
  @memo = Hash.new do |memo, (servers, load)|
    erlang = (0...servers).inject(1.0) { |inverse, _| inverse }
    (1..servers).each { |n| erlang = load * erlang / (n + load * erlang) }
    memo[[servers, load]] = erlang
  end

  class << self
    attr_reader :memo

    def blocking(servers, load) = @memo[[servers, load.round(3)]]
    def recursive(n) = n < 2 ? n : (@fib ||= {})[n] ||= recursive(n - 1) + recursive(n - 2)
    def known = @fib.size
  end
end

module Lab
  @rounds = 0

  class << self
    def pool(jobs, size)
      queue = Thread::Queue.new
      jobs.each_with_index { |job, i| queue << [i, job] }
      queue.close
      results = Array.new(jobs.size)
      lock = Mutex.new
      workers = Array.new(size) do |n|
        Thread.new do
          Thread.current[:worker] = n
          while (i, job = queue.pop)
            value = job.call
            lock.synchronize { results[i] = value }
          end
          Thread.current[:worker]
        end
      end
      $order << workers.map(&:value).sum
      results
    end

    def compose = @compose ||= (method(:Integer) >> ->(x) { x + 1 } >> :to_s.to_proc).freeze

    def main
      @rounds += 1
      puts "== round #{@rounds}"
      jobs = [{}, { servers: 1 }, { cache: 60 }, { gap: 0.3, servers: 3 }].map { |options| -> { Experiment[@rounds * 11, **options] } }
      results = pool(jobs, 3)
      puts results.map(&:summary), results.map { |r| r.first_done.join(", ") }
      puts "best #{results.min_by(&:waits).title}, worst #{results.max_by(&:waits).title}, all #{results.map(&:waits).inject(:merge)}"
      puts "newest #{results.first.cache.keys.first(5).join(" ")}, evicted #{results.sum { |r| r.cache.evicted }}"
      again = pool(jobs, 2)
      puts "again #{again.zip(results).all? { |a, b| a.equal?(b) }}, experiments #{Experiment::RESULTS.size}, caches #{LRU.instances}, tags #{Experiment::RESULTS.values.map(&:tag).tally.map { |tag, n| "#{tag} x#{n}" }.join(" ")}"
      puts format("blocking %.5f %.5f, memo %d, fib %d of %d", Theory.blocking(2, 0.9 * @rounds), Theory.blocking(3, 1.7), Theory.memo.size, Theory.recursive(60 + @rounds), Theory.known)
      srand(@rounds)
      puts "rand #{rand(1000)} #{Array.new(3) { rand(6) + 1 }.join} #{[1, 2, 3, 4, 5].shuffle(random: Random.new(@rounds)).join} #{%w[x y z].sample}"
      puts "events #{$events}, order #{$order.join(",")}, heap #{Heap.new([5, 3, 9, 1]).to_a.join} #{Heap.new(%w[pear fig apple]) { |a, b| b.size <=> a.size }.first}, #{compose.call("41")}"
      puts "current #{Simulator.current.inspect} #{Simulator.current_seed}"
      begin
        Simulator.new(1).tap { |s| s.process("odd") { Fiber.yield :what } }.run(1)
      rescue ArgumentError => e
        puts e.message
      end
    end
  end
end

2.times { Lab.main }
