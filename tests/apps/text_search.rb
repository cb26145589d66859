# Full-text search over an inverted index: tokens, stems, postings with positions, BM25, a query language, highlighting, spelling.
# State: a stem cache that fills itself (constant Hash with a default proc), postings in class-level ivars, a class variable with numbers,
# the corpus read once from behind __END__, a memoised singleton index.

require "set"

module Search
  STOP = Set.new(%w[a an and are as at be by for from has in is it its of on or that the to was were will with])
  STEMS = Hash.new { |cache, word| cache[word] = Stemmer.stem(word) }
  QUERIES = {}

  # A light stemmer: plural, past and -ing endings, -ly, -ness.
  module Stemmer
    VOWEL = /[aeiouy]/
    RULES = [
      [/sses\z/, "ss"], [/ies\z/, "y"], [/([^s])s\z/, '\1'], [/eed\z/, "ee"], [/(#{VOWEL}.*)(?:ed|ing)\z/, '\1'],
      [/(.{3,})ly\z/, '\1'], [/(.{3,})ness\z/, '\1'], [/(.{3,})ation\z/, '\1ate'], [/([^aeiouylsz])\1\z/, '\1']
    ]
    @calls = 0

    class << self
      attr_reader :calls

      def stem(word)
        @calls += 1
        return word if word.length < 4
        RULES.inject(word.dup) do |now, (pattern, replacement)|
          now.length > 3 ? now.sub(pattern, replacement) : now
        end
      end
    end
  end

  Token = Struct.new(:text, :stem, :position, :from, :to)

  module Tokenizer
    WORD = /[[:alpha:]][[:alnum:]'’]*/

    def self.each(text)
      return enum_for(:each, text) unless block_given?
      position = 0
      at = 0
      while (m = WORD.match(text, at))
        word = m[0].downcase.sub(/['’]s?\z/, "")
        at = m.end(0)
        position += 1
        yield Token.new(m[0], STEMS[word], position, m.begin(0), at) unless STOP.include?(word)
      end
    end
  end

  class Document
    include Comparable
    attr_reader :id, :title, :body, :length

    @@made = 0

    def self.made = @@made

    def initialize(title, body)
      @id = (@@made += 1)
      @title = title
      @body = body
      @length = 0
    end

    def tokens
      return @tokens if @tokens
      @tokens = Tokenizer.each("#{title}. #{body}").to_a
      @length = @tokens.size
      @tokens
    end

    def <=>(other) = id <=> other.id
    def hash = id.hash
    def eql?(other) = other.is_a?(Document) && id == other.id
    def to_s = "#{id}:#{title}"
  end

  # A stem's places: document id => positions.
  class Posting
    attr_reader :stem, :places

    def initialize(stem)
      @stem = stem
      @places = Hash.new { |h, k| h[k] = [] }
    end

    def add(id, position)
      @places[id] << position
      self
    end

    def ids = @places.keys
    def frequency(id) = @places.key?(id) ? @places[id].size : 0
    def size = @places.size
  end

  class Index
    K1 = 1.2
    B = 0.75

    class << self
      def instance
        @instance ||= new.tap { |index| Corpus.each { |title, body| index << Document.new(title, body) } }
      end

      attr_writer :instance
      private :new
    end

    attr_reader :documents, :postings

    def initialize
      @documents = {}
      @postings = Hash.new { |h, stem| h[stem] = Posting.new(stem) }
      @total = 0
    end

    def <<(document)
      document.tokens.each { |token| @postings[token.stem].add(document.id, token.position) }
      @documents[document.id] = document
      @total += document.length
      QUERIES.clear
      self
    end

    def posting(stem) = @postings.key?(stem) ? @postings[stem] : nil

    def ids = @documents.keys

    def average = @total.fdiv(@documents.size)

    def score(stem, id)
      posting = posting(stem) or return 0.0
      f = posting.frequency(id)
      return 0.0 if f.zero?
      idf = Math.log(1 + (@documents.size - posting.size + 0.5) / (posting.size + 0.5))
      idf * f * (K1 + 1) / (f + K1 * (1 - B + B * @documents[id].length / average))
    end

    # Stems at most two letters away, nearest first.
    def similar(stem)
      @postings.keys.map { |other| [distance(stem, other), other] }.select { |d, _| d <= 2 }.sort.map(&:last).first(2)
    end

    def distance(a, b)
      return 9 if (a.length - b.length).abs > 2
      row = (0..b.length).to_a
      a.each_char.with_index(1) do |x, i|
        diagonal, row[0] = row[0], i
        b.each_char.with_index(1) do |y, j|
          cost = x == y ? diagonal : diagonal + 1
          diagonal = row[j]
          row[j] = [cost, row[j - 1] + 1, diagonal + 1].min
        end
      end
      row.last
    end
  end

  # Queries: words, "phrases", AND, OR, NOT, parentheses, title:word.
  class Query
    class ParseError < StandardError; end

    Term = Struct.new(:word) do
      def stems = [STEMS[word.downcase]]
      def match(index) = index.posting(stems.first)&.ids || []
      def to_s = word
    end

    Phrase = Struct.new(:words) do
      def stems = words.map { |w| STEMS[w.downcase] }.reject { |w| STOP.include?(w) }

      def match(index)
        lists = stems.map { |stem| index.posting(stem) or return [] }
        lists.map(&:ids).inject(:&).select do |id|
          lists.first.places[id].any? do |start|
            lists.each_with_index.all? { |posting, i| (start + i..start + i + 1).any? { |p| posting.places[id].include?(p) } }
          end
        end
      end

      def to_s = words.join(" ").inspect
    end

    Title = Struct.new(:word) do
      def stems = [STEMS[word.downcase]]
      def match(index) = index.documents.values.select { |d| d.title.downcase.include?(word.downcase) }.map(&:id)
      def to_s = "title:#{word}"
    end

    And = Struct.new(:left, :right) do
      def stems = left.stems + right.stems
      def match(index) = left.match(index) & right.match(index)
      def to_s = "(#{left} AND #{right})"
    end

    Or = Struct.new(:left, :right) do
      def stems = left.stems | right.stems
      def match(index) = left.match(index) | right.match(index)
      def to_s = "(#{left} OR #{right})"
    end

    Not = Struct.new(:inner) do
      def stems = []
      def match(index) = index.ids - inner.match(index)
      def to_s = "NOT #{inner}"
    end

    def self.parse(text)
      QUERIES[text] ||= new(text).parse
    end

    def initialize(text)
      @text = text
      @words = text.scan(/"[^"]*"|[()]|[^\s()"]+|"/)
    end

    def parse
      tree = either
      raise ParseError, "unexpected #{@words.first} in #{@text}" unless @words.empty?
      tree
    end

    private

    def either
      left = both
      left = Or.new(left, both) while accept("OR")
      left
    end

    def both
      left = factor
      until @words.empty? || [")", "OR"].include?(@words.first)
        accept("AND")
        left = And.new(left, factor)
      end
      left
    end

    def factor
      case word = @words.shift
      when nil then raise ParseError, "the query ends too early: #{@text}"
      when "NOT" then Not.new(factor)
      when "("
        inner = either
        accept(")") or raise ParseError, "missing ) in #{@text}"
        inner
      when /\A"(.+)"\z/ then Phrase.new($1.split)
      when /\Atitle:(.+)\z/i then Title.new($1)
      when /\A[[:alnum:]]/ then Term.new(word)
      else raise ParseError, "unexpected #{word} in #{@text}"
      end
    end

    def accept(word) = @words.first == word && @words.shift
  end

  # Marks matched words in the part of the text that has most of them.
  module Highlighter
    WIDTH = 12
    @cache = {}

    class << self
      attr_reader :cache

      def mark(document, stems)
        @cache[[document.id, stems.sort]] ||= begin
          tokens = document.tokens
          start = (0...tokens.size).max_by { |i| [tokens[i, WIDTH].count { |t| stems.include?(t.stem) }, -i] } || 0
          part = tokens[start, WIDTH]
          text = "#{document.title}. #{document.body}"
          out = +""
          at = part.first.from
          part.each do |token|
            out << text[at...token.from]
            out << (stems.include?(token.stem) ? "[#{token.text}]" : token.text)
            at = token.to
          end
          out.tr("\n", " ")
        end
      end
    end
  end

  module Corpus
    def self.each(&block)
      @texts ||= File.read(__FILE__, encoding: "UTF-8").split("\n__END__\n", 2).last.split(/^## /).drop(1).map { |part| part.split("\n", 2).map(&:strip) }
      @texts.each(&block)
    end
  end

  Result = Struct.new(:document, :score) do
    include Comparable
    def <=>(other) = [-score.round(6), document.id] <=> [-other.score.round(6), other.document.id]
  end

  def self.find(text, index = Index.instance)
    query = Query.parse(text)
    stems = query.stems
    results = query.match(index).map { |id| Result.new(index.documents[id], stems.sum { |s| index.score(s, id) }) }
    results = results.sort
    suggestions = stems.reject { |s| index.posting(s) }.to_h { |s| [s, index.similar(s)] }
    [query, results, suggestions]
  rescue Query::ParseError => e
    [e.message, [], {}]
  end

  QUESTIONS = [
    "garden", "soil AND water", "\"morning light\"", "bees OR beetles", "gardens NOT roses", "title:winter", "(pruning roses) OR compost", "watr",
    "the quick", "soil AND", "(bees", "\"", "NOT garden", "planting trees", "seedlings"
  ]

  @rounds = 0

  def self.main
    @rounds += 1
    puts "== round #{@rounds}: #{Index.instance.documents.size} documents, #{Index.instance.postings.size} stems, average #{format("%.2f", Index.instance.average)}"
    QUESTIONS.rotate(@rounds - 1).each do |question|
      query, results, suggestions = find(question)
      puts "#{question} -> #{query}"
      results.first(3).each { |r| puts format("  %-22s %.4f  %s", r.document, r.score, Highlighter.mark(r.document, query.stems)) }
      suggestions.each { |word, near| puts "  did you mean #{near.join(" or ")} instead of #{word}?" unless near.empty? }
    end
    Index.instance << Document.new("Note #{@rounds}", "A garden note about soil number #{@rounds} and watering #{"seedlings " * @rounds}")
    top = Index.instance.postings.values.max_by(4) { |p| [p.places.sum { |_, list| list.size }, p.stem] }
    puts "most: " + top.map { |p| "#{p.stem}=#{p.places.values.sum(&:size)}" }.join(" ")
    puts "stemmed #{Stemmer.calls} of #{STEMS.size}, documents made #{Document.made}, highlights #{Highlighter.cache.size}, queries #{QUERIES.size}"
    puts Index.instance.documents.values.minmax.join(" .. ")
  end
end

2.times { Search.main }

__END__
## Morning beds
The morning light falls on the garden before the bees are awake. Water the beds while the soil is cool, and the seedlings will stand
the heat of noon. Nobody regrets an hour of watering in the morning's light.
## Roses
Roses want pruning in late winter, when the buds are swelling but not open. Cut above an outward facing bud; a clean cut heals quickly.
Feed the soil around the roses with compost and keep grass away from their roots.
## Compost
A heap of leaves, grass and kitchen waste becomes compost in six months if it is turned. Beetles and worms do the work, the gardener only
turns the heap. Wet heaps smell; dry heaps do nothing.
## Winter work
In winter the garden sleeps and the gardener sharpens tools, orders seeds and plans the rotation of the beds. Trees are planted while they
are dormant; a stake keeps the planted tree steady in the winds of winter.
## Bees
Bees visit the garden from early spring. A single hive may visit thousands of flowers a day, and planting for bees means planting for every
week of the season: crocus, apple, clover, lavender, ivy.
## Soil
Soil is alive. A handful of good soil holds more beings than there are people in the world. Dig it as little as possible, cover it always,
and feed it with compost; then water sinks in and stays.
## Trees
An old apple tree gives shade, fruit and a home for beetles. Pruning keeps the tree's crown open to the light. Plant a young tree each year
and the orchard never grows old.
## Kitchen garden
Seedlings raised on a sill move to the kitchen garden after the last frost. Sow carrots thinly, plant potatoes deeply, and water both rarely
but thoroughly. Weeding is easier in dry soil.
