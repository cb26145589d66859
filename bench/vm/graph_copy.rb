# Copies an unfrozen graph of about 100,000 objects: hashes, arrays, strings and small objects, mixed. Zakuro sends it through a channel and receives it;
# other Rubies do Marshal.load(Marshal.dump(graph)). Prints the median time per copy in milliseconds; `bench/run graph_copy` compares the two.
#
# Shapes: mixed (the figure of the product), and what it is made of: arrays, strings, hashes, objects.

ROUNDS = (ARGV[0] || 15).to_i

class Item
  def initialize(number, name, tags)
    @number = number
    @name = name
    @tags = tags
  end
  attr_reader :number, :name, :tags
end
Point = Struct.new(:x, :y)

def mixed(n)
  (0...n / 10).map do |i|
    {
      id: i,
      "name" => "item number #{i}",
      list: [i, i * 2.5, nil, [i, :sym]],
      item: Item.new(i, "thing #{i}", ["a#{i}", "b"]),
      at: Point.new(i, -i),
    }
  end
end

GRAPHS = {
  "mixed" => mixed(100_000),
  "arrays" => Array.new(100_000) { |i| [i, nil, i + 1] },
  "strings" => Array.new(100_000) { |i| "string #{i}" },
  "hashes" => Array.new(50_000) { |i| { a: i, "b" => nil } },
  "objects" => Array.new(100_000) { |i| Item.new(i, nil, nil) },
}

def count(object)
  seen = {}.compare_by_identity
  work = [object]
  until work.empty?
    o = work.pop
    next if o.nil? || seen[o] || o.is_a?(Integer) || o.is_a?(Symbol) || o.is_a?(Float)
    seen[o] = true
    case o
    when Array then work.concat(o)
    when Hash then o.each { |k, v| work << k << v }
    when Struct then work.concat(o.to_a)
    when Item then work << o.number << o.name << o.tags
    end
  end
  seen.size
end

if RubyVM.respond_to?(:fork)
  channel = RubyVM::Channel.new
  copy = ->(g) { channel.send(g); channel.recv }
else
  copy = ->(g) { Marshal.load(Marshal.dump(g)) }
end

# Warm, and the same in both.
GRAPHS.each_value { |g| raise "copy differs" unless count(copy.(g)) == count(g) }

now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
GRAPHS.each do |name, graph|
  times = Array.new(ROUNDS) do
    GC.start
    t = now.()
    copy.(graph)
    now.() - t
  end.sort
  printf("%s_copy_%s %.3f ms\n", RubyVM.respond_to?(:fork) ? "vm" : "marshal", name, times[times.size / 2] * 1e3)
end
