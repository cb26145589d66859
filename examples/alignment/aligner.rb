# Finds spans of a text again in a revised version of it.
#
# Both are cut into words; the words that both have in common, in order, are found by Myers' greedy O(ND) search for the shortest edit script ("An O(ND) Difference Algorithm and Its
# Variations", 1986, section 3). A span goes along with the words that it begins and ends in.
class Aligner
  SPELLINGS = { "alpha" => "α", "beta" => "β", "gamma" => "γ", "delta" => "δ", "kappa" => "κ" }.freeze

  # Making one takes a while: the table of spellings is expanded, as a dictionary would be loaded.
  def initialize
    @normal = {}
    SPELLINGS.each { |name, sign| [name, name.capitalize, name.upcase, sign].each { |form| @normal[form] = sign } }
    ("a".."z").to_a.product(("a".."z").to_a, ("a".."z").to_a) { |letters| @normal[letters.join.capitalize] = letters.join }
  end

  # Spans in `target` for those of `source`; nil for one whose words are gone.
  def align(source, target, spans)
    from, to = words(source), words(target)
    pairs = common(from.map { |w| w[0] }, to.map { |w| w[0] })
    spans.map do |first, last|
      inside = from.each_index.select { |i| from[i][1] < last && from[i][2] > first && pairs[i] }
      next if inside.empty?
      [to[pairs[inside.first]][1], to[pairs[inside.last]][2]]
    end
  end

  # Paths of a document and its spans to its result.
  def document(base)
    spans = File.readlines("#{base}.spans").map { |line| line.split.map(&:to_i) }
    align(File.read("#{base}.txt"), File.read("#{base}.new.txt"), spans)
  end

  private

  def words(text)
    list = []
    text.scan(/[[:alnum:]]+/) do |word|
      at = $~.begin(0)
      list << [@normal[word] || word.downcase, at, at + word.size]
    end
    list
  end

  # For each index of `a` the index of the same word in `b`, or nil.
  def common(a, b)
    n, m = a.size, b.size
    reach = { 1 => 0 }
    trace = []
    (0..n + m).each do |d|
      trace << reach.dup
      (-d).step(d, 2) do |k|
        x = k == -d || (k != d && reach[k - 1] < reach[k + 1]) ? reach[k + 1] : reach[k - 1] + 1
        y = x - k
        while x < n && y < m && a[x] == b[y]
          x += 1
          y += 1
        end
        reach[k] = x
        return way_back(trace, n, m) if x >= n && y >= m
      end
    end
  end

  def way_back(trace, x, y)
    pairs = []
    (trace.size - 1).downto(0) do |d|
      reach = trace[d]
      k = x - y
      before = k == -d || (k != d && reach[k - 1] < reach[k + 1]) ? k + 1 : k - 1
      old_x = reach[before]
      old_y = old_x - before
      while x > old_x && y > old_y && x > 0 && y > 0
        x -= 1
        y -= 1
        pairs[x] = y
      end
      x, y = old_x, old_y
    end
    pairs
  end
end
