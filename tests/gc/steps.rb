# A heap that is large enough to be marked in steps. Between the steps the program moves objects from where the marking has not been to where it was.
small = ENV["ZAKURO_TEST_SCALE"] == "small"
N = small ? 500 : 40_000
Node = Struct.new(:name, :link)

queue = Array.new(N) { |i| Node.new("node #{i}", ["link #{i}"]) }
table = {}
N.times { |i| table[i] = Node.new("entry #{i}", { i => "value #{i}" }) }
cells = Array.new(N) { |i| [["leaf #{i}"]] }
held = nil
hold = ->(v) { held = v }

rounds = small ? 200 : 50_000
ok = true
rounds.times do |i|
  # The front goes to the end, and what it links to somewhere else meanwhile.
  n = queue.shift
  queue << n
  other = queue[(i * 7) % queue.size]
  n.link, other.link = other.link, n.link
  # An entry leaves the table and comes back under another key; its old place is taken by a young one.
  k = (i * 31) % N
  e = table.delete(k)
  hold.(e.link)
  e.link = nil
  table[k] = Node.new(e.name, held.dup)
  # Leaves wander through cells.
  a, b = cells[i % N], cells[(i * 13) % N]
  a[0], b[0] = b[0], a[0]
  a[0] = a[0].dup if i % 5 == 0
  ok &&= table[k].link[k] == "value #{k}"
end
p ok
p queue.map { |n| n.link[0] }.sort == Array.new(N) { |i| "link #{i}" }.sort, queue.map(&:name).uniq.size == N
p table.size == N, table.all? { |k, e| e.name == "entry #{k}" && e.link == { k => "value #{k}" } }
p cells.map { |c| c[0][0] }.uniq.size == N
p small || GC.stat(:major_gc_count) > 0
