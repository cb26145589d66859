Card = Struct.new(:rank, :suit) do
  include Comparable
  def <=>(o) = [rank, suit] <=> [o.rank, o.suit]
end
cards = [[3, "h"], [1, "s"], [3, "c"], [2, "d"]].map { |r, s| Card.new(r, s) }
p cards.sort.map(&:to_a)
p cards.min.to_a
p cards.max.to_a
p cards.minmax.map(&:rank)
p cards.sort { |a, b| b <=> a }.first.to_a
p cards.sort_by(&:suit).map(&:suit).join
p cards.max_by { |c| c.suit }.to_a
p cards[0] > cards[1]
p cards[0].between?(cards[1], cards[0])
p cards[1].clamp(cards[3], cards[0]).to_a
p cards[0] == Card.new(3, "h")
p cards.include?(Card.new(2, "d"))
p cards.uniq.size
p cards.index(Card.new(3, "c"))
stable = %w[bb aa c dd e].each_with_index.sort_by { |s, i| [s.size, i] }.map(&:first)
p stable
p %w[bb aa c].sort_by { |s| [-s.size, s] }
p [3, 1, 2].sort.reverse!
p [0.1, -0.0, 0.0].sort.map(&:to_s).first
p [[2, :b], [1, :a]].sort_by(&:first).to_h.keys
p %w[10 9 2].sort
p %w[10 9 2].sort_by(&:to_i)
begin
  [Card.new(1, "a"), 5].sort
rescue => e
  p e.class
end
p((1..50).to_a.shuffle(random: Random.new(1)).sort == (1..50).to_a)
p((1..50).sort_by { |x| x % 7 * 100 + x }.first(4))
p [5, 3, 9].sort!.first
p [5, 3, 9].sort_by! { |x| -x }
