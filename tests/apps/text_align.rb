# Carries annotations from one version of a text to another: dictionary for character variants, longest common blocks, a diff by
# dynamic programming where blocks fail, a position map, then spans moved and checked. Dictionary tagging beside it.
# State: a character dictionary in a constant with memoised lookups, class-level ivars, a class variable cache of alignments, globals, an
# autoloaded file that keeps counts of its own.

$aligned = 0
$verbose_align = nil

module TextAlign
  autoload :Lexicon, File.join(__dir__, "support", "lexicon.rb")

  # One character may be written as several others.
  VARIANTS = [
    ["α", "alpha"], ["β", "beta"], ["γ", "gamma"], ["κ", "kappa"], ["µ", "u"], ["–", "-"], ["—", "--"], ["’", "'"], ["“", "\""], ["”", "\""],
    ["ﬁ", "fi"], ["ﬂ", "fl"], ["é", "e"], ["…", "..."], ["±", "+/-"], ["≥", ">="], ["\u00a0", " "]
  ]
  MEMO = {}

  class << self
    attr_accessor :log

    def note(text)
      (self.log ||= []) << text
      log.shift if log.size > 50
    end
  end

  # Strings with their variants written out, and how positions correspond.
  class Normal
    attr_reader :text, :source

    @from = Hash.new { |h, c| h[c] = (VARIANTS.assoc(c) || [c, c]).last }
    @made = 0

    class << self
      attr_reader :from, :made

      def of(text)
        MEMO[text] ||= begin
          @made += 1
          new(text)
        end
      end
    end

    def initialize(source)
      @source = source
      @text = +""
      @back = []
      space = true
      source.each_char.with_index do |c, i|
        blank = c.match?(/[[:space:]]/)
        next if blank && space
        space = blank
        written = blank ? " " : self.class.from[c]
        @text << written
        written.length.times { @back << i }
      end
      @back << source.length
      @forward = {}
      @back.each_with_index { |from, at| @forward[from] ||= at }
    end

    def back(position) = @back[position]

    # The place of a source position in the normal text.
    def forward(position)
      position += 1 until @forward.key?(position) || position >= @source.length
      @forward.fetch(position) { @text.length }
    end

    def length = @text.length
  end

  Block = Struct.new(:a, :b, :length) do
    include Comparable
    def <=>(other) = [a, b] <=> [other.a, other.b]
    def end_a = a + length
    def end_b = b + length
    def to_s = "#{a}/#{b}+#{length}"
  end

  # Long common substrings, anchored at n-grams that are unique in both texts.
  class Anchors
    SIZES = [12, 8, 5]

    def initialize(a, b)
      @a, @b = a, b
    end

    def blocks(from_a = 0, to_a = @a.length, from_b = 0, to_b = @b.length, sizes = SIZES)
      size, *smaller = sizes
      return [] if size.nil? || to_a - from_a < size || to_b - from_b < size
      found = grow(unique(@a, from_a, to_a, size), unique(@b, from_b, to_b, size), size, [from_a, to_a, from_b, to_b])
      return blocks(from_a, to_a, from_b, to_b, smaller) if found.empty?
      out = []
      at_a, at_b = from_a, from_b
      found.each do |block|
        out.concat(blocks(at_a, block.a, at_b, block.b, sizes))
        out << block
        at_a, at_b = block.end_a, block.end_b
      end
      out.concat(blocks(at_a, to_a, at_b, to_b, smaller))
    end

    private

    def unique(text, from, to, size)
      seen = {}
      (from..to - size).each do |i|
        gram = text[i, size]
        seen[gram] = seen.key?(gram) ? nil : i
      end
      seen.compact
    end

    def grow(in_a, in_b, size, (from_a, to_a, from_b, to_b))
      pairs = in_a.filter_map { |gram, i| [i, in_b[gram]] if in_b[gram] }.sort
      pairs = increasing(pairs)
      blocks = []
      pairs.each do |i, j|
        last = blocks.last
        if last && i < last.end_a
          next if i - last.a == j - last.b
          next
        end
        next if last && j < last.end_b
        floor_a, floor_b = last ? [last.end_a, last.end_b] : [from_a, from_b]
        start_i, start_j = i, j
        start_i, start_j = start_i - 1, start_j - 1 while start_i > floor_a && start_j > floor_b && @a[start_i - 1] == @b[start_j - 1]
        stop = i + size
        stop += 1 while stop < to_a && j + stop - i < to_b && @a[stop] == @b[j + stop - i]
        blocks << Block.new(start_i, start_j, stop - start_i)
      end
      blocks
    end

    # Longest chain in which both positions grow (patience).
    def increasing(pairs)
      tops = []
      links = {}
      pairs.each do |pair|
        at = tops.bsearch_index { |top| top[1] >= pair[1] } || tops.size
        links[pair] = at.zero? ? nil : tops[at - 1]
        tops[at] = pair
      end
      chain = []
      pair = tops.last
      while pair
        chain.unshift(pair)
        pair = links[pair]
      end
      chain
    end
  end

  # What blocks leave over, by edit distance.
  module Diff
    Op = Struct.new(:kind, :a, :b)
    @cells = 0

    class << self
      attr_reader :cells

      def ops(a, b)
        width = b.length + 1
        table = Array.new((a.length + 1) * width, 0)
        @cells += table.size
        a.length.downto(0) do |i|
          b.length.downto(0) do |j|
            table[i * width + j] =
              if i == a.length then b.length - j
              elsif j == b.length then a.length - i
              elsif a[i] == b[j] then table[(i + 1) * width + j + 1]
              else 1 + [table[(i + 1) * width + j], table[i * width + j + 1], table[(i + 1) * width + j + 1]].min
              end
          end
        end
        walk(a, b, table, width)
      end

      private

      def walk(a, b, table, width)
        return to_enum(__method__, a, b, table, width).to_a unless block_given?
        i = j = 0
        until i == a.length && j == b.length
          here = table[i * width + j]
          if i < a.length && j < b.length && a[i] == b[j]
            yield Op.new(:same, i, j)
            i, j = i + 1, j + 1
          elsif i < a.length && j < b.length && table[(i + 1) * width + j + 1] + 1 == here
            yield Op.new(:change, i, j)
            i, j = i + 1, j + 1
          elsif i < a.length && table[(i + 1) * width + j] + 1 == here
            yield Op.new(:delete, i, j)
            i += 1
          else
            yield Op.new(:insert, i, j)
            j += 1
          end
        end
      end
    end
  end

  class Alignment
    attr_reader :blocks, :edits, :similarity

    @@cache = {}
    @@hits = 0

    def self.between(a, b)
      if @@cache.key?([a, b])
        @@hits += 1
        return @@cache[[a, b]]
      end
      @@cache[[a, b]] = new(a, b)
    end

    def self.stats = [@@cache.size, @@hits]

    def initialize(a, b)
      $aligned += 1
      @a, @b = Normal.of(a), Normal.of(b)
      @map = {}
      @edits = Hash.new(0)
      @blocks = Anchors.new(@a.text, @b.text).blocks.sort
      at_a = at_b = 0
      @blocks.each do |block|
        gap(at_a, block.a, at_b, block.b)
        block.length.times { |i| @map[block.a + i] = block.b + i }
        at_a, at_b = block.end_a, block.end_b
      end
      gap(at_a, @a.length, at_b, @b.length)
      @map[@a.length] = @b.length
      same = @map.count { |i, j| @a.text[i] == @b.text[j] }
      @similarity = same.fdiv([@a.length, @b.length, 1].max)
      TextAlign.note("aligned #{@a.length} to #{@b.length}: #{@blocks.size} blocks")
    end

    def move(from, to)
      first = @map[@a.forward(from)]
      last = @map[@a.forward(to) - 1]
      return nil unless first && last && first <= last
      start = @b.back(first)
      stop = @b.back(last) + 1
      stop > start ? start...stop : nil
    end

    private

    def gap(from_a, to_a, from_b, to_b)
      Diff.ops(@a.text[from_a...to_a], @b.text[from_b...to_b]).each do |op|
        @edits[op.kind] += 1
        @map[from_a + op.a] = from_b + op.b if %i[same change].include?(op.kind)
      end
    end
  end

  Denotation = Struct.new(:id, :from, :to, :type) do
    def text(of) = of[from...to]
    def moved(range) = self.class.new(id, range.begin, range.end, type)
    def to_s = "#{id}:#{type}[#{from},#{to})"
  end

  class Annotations
    include Enumerable
    attr_reader :text, :lost

    def initialize(text, denotations = [], lost = [])
      @text = text
      @denotations = denotations
      @lost = lost
    end

    def each(&block) = @denotations.sort_by { |d| [d.from, -d.to, d.id] }.each(&block)

    def carried_to(text)
      alignment = Alignment.between(@text, text)
      kept, lost = map { |d| [d, alignment.move(d.from, d.to)] }.partition(&:last)
      [Annotations.new(text, kept.map { |d, range| d.moved(range) }, lost.map(&:first)), alignment]
    end

    def inline
      out = +""
      at = 0
      each do |d|
        next if d.from < at
        out << text[at...d.from] << "[" << d.text(text) << "](" << d.type << ")"
        at = d.to
      end
      out << text[at..]
    end
  end

  TEXTS = [
    ["TNF-α activates NF-κB in T cells – a ﬁrst report.", "TNF-alpha activates NF-kappaB in  T-cells - a first report."],
    ["The p53 gene was cloned; expression rose ≥ 3 fold in HeLa cells.", "Expression of p53 gene was cloned; its expression increased >= 3 fold in HeLa cell lines."],
    ["Interleukin-2 (IL-2) binds the IL-2 receptor β chain on activated lymphocytes… and acts.", "Interleukin-2 binds the IL-2 receptor beta chain (CD122) on activated lymphocytes... and acts."],
    ["Wild type and mutant yeast were grown at 30 ± 1 degrees.", "Mutant and wild type yeast were grown at 30 +/- 1 degrees."],
    ["Nothing in common here", "§§§"]
  ]

  @rounds = 0

  class << self
    def main
      @rounds += 1
      puts "== round #{@rounds}"
      TEXTS.each_with_index do |(a, b), n|
        b += " (v#{@rounds})" if n.even?
        source = Annotations.new(a, Lexicon.tag(a))
        moved, alignment = source.carried_to(b)
        puts source.inline, "  " + moved.inline
        puts format("  %d blocks (%s), edits %s, similarity %.3f, lost %s", alignment.blocks.size, alignment.blocks.first(3).join(" "),
                    alignment.edits.sort.map { |k, v| "#{k}:#{v}" }.join(" "), alignment.similarity, moved.lost.empty? ? "none" : moved.lost.join(" "))
        again, = source.carried_to(b)
        puts "  moved differently!" unless again.map(&:to_s) == moved.map(&:to_s)
        back, = moved.carried_to(a)
        same = back.map { |d| d.text(a) }.zip(source.reject { |d| moved.lost.include?(d) }.map { |d| d.text(a) }).count { |x, y| x == y }
        puts "  and back: #{same} of #{moved.count}"
      end
      learn
      puts "aligned #{$aligned}, cache #{Alignment.stats.join("/")}, normal #{Normal.made}, characters #{Normal.from.size}, cells #{Diff.cells}"
      puts "lexicon #{Lexicon.summary}", log.last(2)
    end

    def learn
      words = %w[HeLa yeast lymphocytes receptor]
      Lexicon.add(words[@rounds % 4], "word#{@rounds}") { |entry| $verbose_align = entry }
      puts "learnt #{$verbose_align}"
      bad = Lexicon.add("", "nothing")
      puts "added #{bad}"
    rescue ArgumentError => e
      puts e.message
    end
  end
end

2.times { TextAlign.main }
