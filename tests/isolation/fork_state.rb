# A program that keeps state everywhere, in eight forks at once: each gets what the sequential run gets, and nobody sees the others.
require "set"

CACHE = {}
COUNTS = Hash.new { |h, k| h[k] = k.to_s.size }
NAMES = Set.new(%w[a b])
$seen = []
$total = 0

module Settings
  @values = { depth: 3 }
  class << self
    attr_reader :values

    def [](key) = @values.fetch(key) { @values[key] = key.to_s * 2 }
  end
end

class Registry
  include Enumerable
  @@made = 0
  @by_name = {}
  LIMIT = 10

  class << self
    attr_accessor :by_name

    def instance = @instance ||= new("singleton")

    def register(item) = @by_name[item.name] = item
  end

  attr_reader :name, :id

  def initialize(name)
    @name = name
    @id = @@made += 1
    Registry.register(self)
  end

  def self.made = @@made

  step = 0
  define_method(:step) { step += 1 }

  def each
    return to_enum unless block_given?
    (1..id).each { |i| yield i }
  end
end

Point = Struct.new(:x, :y) do
  def dist = Math.sqrt(x * x + y * y)
end
Pair = Data.define(:left, :right)
FIB = Hash.new { |h, n| h[n] = n < 2 ? n : h[n - 1] + h[n - 2] }
COUNTER = (n = 0; -> { n += 1 })
LOCK = Mutex.new
PATTERN = /(\d+)-(\w+)/i
QUEUE = Queue.new
QUEUE << :first
SELF = self

def memo(k) = CACHE[k] ||= k * k

def run(seed)
  item = Registry.new("item #{seed}")
  out = []
  out << memo(seed) << CACHE.size
  out << COUNTS[:abc] << COUNTS["x" * seed] << COUNTS.size
  NAMES << "n#{seed}"
  out << NAMES.to_a
  $seen << seed
  out << $seen.dup << ($total += seed)
  out << Settings[:depth] << Settings[:"k#{seed}"] << Settings.values.size
  out << item.id << Registry.made << Registry.by_name.keys
  out << Registry.instance.name << Registry.instance.equal?(Registry.by_name["singleton"])
  out << item.step << item.step << item.map { |i| i * 2 }.first(3)
  out << Point.new(3, 4).dist << Pair.new(left: seed, right: [seed]).inspect
  out << FIB[40] << COUNTER.call << COUNTER.call
  out << LOCK.synchronize { "42-Ab" =~ PATTERN && [$1, $2] }
  out << QUEUE.size << SELF.inspect
  Registry.const_set(:"C#{seed}", seed)
  out << Registry.constants.sort
  eval "def late = #{seed}"
  out << late
  String.class_eval { define_method(:seeded) { self + seed.to_s } }
  out << "s".seeded
  out
end

before = run(0)
LOCK.lock
QUEUE << :second
results = 8.times.map { |i| RubyVM.fork(i + 1) { |seed| run(seed) } }.map(&:value)
LOCK.unlock
# One after the other, each in a fork of its own.
LOCK.lock
sequential = 8.times.map { |i| RubyVM.fork(i + 1) { |seed| run(seed) }.value }
LOCK.unlock
p results == sequential
p before
p results[2]
p [CACHE, COUNTS.size, NAMES.size, $seen, $total, Settings.values, Registry.made, Registry.by_name.keys, COUNTER.call]
p Registry.constants.sort, "s".seeded, late, QUEUE.size
