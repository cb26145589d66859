# marshal_dump/marshal_load and _dump/_load of user classes are honoured.
ch = RubyVM::Channel.new
round = ->(x) { ch << x; ch.recv }
class Conn
  def initialize(url)
    @url = url
    @lock = Mutex.new
  end
  attr_reader :url, :lock
  def marshal_dump = [@url, @peer]
  def marshal_load(data) = (@url, @peer = data; @lock = Mutex.new)
  attr_accessor :peer
end
class Temp
  def initialize(d) = @d = d
  attr_reader :d
  def _dump(level) = @d.to_s
  def self._load(text) = new(text.to_f)
end
a, b = Conn.new("a"), Conn.new("b")
a.peer = b
r = round.([a, b, a])
p r.map(&:url), r[0].peer.equal?(r[1]), r[0].equal?(r[2]), r[0].lock.class
b.peer = a
r = round.(a)
p r.peer.peer.equal?(r)
t = Temp.new(2.5)
r = round.({ t => t, list: [t] })
p r[:list][0].d, r[:list][0].equal?(r.keys[0])
p round.(Temp.new(1).freeze).frozen?, round.(Conn.new("z").freeze).frozen?

class Bad; def marshal_dump = raise(IOError, "no dump"); end
class Worse; def _dump(_) = 7; end
class Lost; def marshal_dump = 1; end
[[1, Bad.new], { k: Worse.new }].each do |x|
  ch << x
  puts "sent"
rescue => e
  puts "#{e.class}: #{e.message}"
end
begin
  round.(Lost.new)
rescue => e
  puts "#{e.class}: #{e.message}"
end
p ch.size
# What marshal_dump returns must be sendable, too.
class Deep; def marshal_dump = { lock: Mutex.new }; end
begin
  ch << [Deep.new]
rescue TypeError => e
  puts e.message
end
# It may change what is being sent.
class Meddler
  def initialize(graph) = @graph = graph
  def marshal_dump
    @graph[0].clear
    @graph[1] << "x" * 50
    @graph[2].each_key { |k| @graph[2].delete(k) }
    @graph[3].instance_variable_set(:@new, 1)
    @graph[4].concat((1..100).to_a)
    @graph << :more
    GC.start
    :meddled
  end
  def marshal_load(x) = @graph = x
end
class Plain; def initialize = @a = "a"; end
graph = [[1, 2, 3], "text", { a: 1, b: 2 }, Plain.new, [0]]
graph.unshift(Meddler.new(graph))
10.times do
  graph = [[1, 2, 3], +"text", { a: 1, b: 2 }, Plain.new, [0]]
  graph.insert(2, Meddler.new(graph))
  begin
    ch << graph
    ch.recv
  rescue NoMethodError
    # The third is the meddler now.
  end
end
# A chain of them, long.
link = nil
1000.times { link = Conn.new("x").tap { |c| c.peer = link } }
r = round.(link)
n = 0
while r
  n += 1
  r = r.peer
end
p n
