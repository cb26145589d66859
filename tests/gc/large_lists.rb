# Of large Arrays and Hashes the collector looks at what was written since it was there: whatever way they are written in, nothing is lost.
N = 40_000
list = Array.new(N) { |i| [i] }
table = {}
N.times { |i| table[i] = [i] }
mixed = Array.new(N) { |i| i.odd? ? i : "s#{i}" }
queue = Array.new(2_000) { |i| [i] }
r = Random.new(3)
seen = 0
30.times do |round|
  40.times do |k|
    i = r.rand(list.size)
    list[i] = [i]
    table[i % N] = [i % N]
    mixed[i % N] = k.odd? ? i : "s#{i % N}"
    list[i], list[-1 - i] = list[-1 - i], list[i] if k == 7
    list << [list.size]
    queue.push([queue.last[0] + 1])
    seen += queue.shift[0]
  end
  case round % 10
  when 0 then list.concat(Array.new(5) { |i| [list.size + i] })
  when 1 then list.insert(list.size / 2, [-1])
  when 2 then list.reverse!; list.reverse!
  when 3 then list.rotate!(3); list.rotate!(-3)
  when 4 then list.fill(list.size, 3) { |i| [i] }
  when 5 then list.pop(4)
  when 6 then list[list.size + 2] = [0]; list.compact!
  when 7 then list.map!(&:itself)
  when 8 then list.unshift([-2]); list.delete_at(0)
  when 9 then list.sort_by! { |x| x[0] }
  end
  GC.start(full_mark: round % 6 == 5)
  String.new("x" * 300_000)
end
p list.size, list.all? { |x| x.is_a?(Array) && x.size == 1 && x[0].is_a?(Integer) }
p list.sum { |x| x[0] }, table.all? { |k, v| v == [k] }, mixed.all? { |x| x.is_a?(Integer) || x =~ /\As\d+\z/ }, queue.size, queue[0], queue[-1], seen
# A list that grows while it is old, and ones that come to stand where others stood.
grown = []
100_000.times { |i| grown << "n#{i}"; GC.start(full_mark: false) if i % 20_000 == 0 }
p grown.each_with_index.all? { |s, i| s == "n#{i}" }
5.times { |k| a = Array.new(3_000) { |i| [i + k] }; GC.start(full_mark: k.even?); 50.times { |i| a[i * 7] = [i] }; GC.start(full_mark: false); raise "lost" unless a.all? { |x| x[0].is_a?(Integer) } }
p :done
