# A converter from a Markdown-like text to HTML: block rules tried in order, inline spans with a stack, reference links, footnotes, tables, nested
# lists, a table of contents, plugins that prepend themselves, a syntax colourer. State: compiled regexps memoised per class, slugs in a class
# variable, documents in a constant, a global counter, a registry that subclasses enter themselves, a finite cache with its own eviction.

$footnotes = 0

module Mark
  RENDERED = {}
  ENTITIES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", "\"" => "&quot;" }.freeze

  def self.h(text) = text.gsub(/[&<>"]/) { |c| ENTITIES[c] }

  # Least recently used entries go first.
  class Cache
    attr_reader :hits, :misses

    def initialize(limit)
      @limit = limit
      @entries = {}
      @hits = @misses = 0
    end

    def fetch(key)
      if @entries.key?(key)
        @hits += 1
        value = @entries.delete(key)
      else
        @misses += 1
        value = yield
      end
      @entries[key] = value
      @entries.shift if @entries.size > @limit
      value
    end

    def to_s = "#{@entries.size}/#{@limit} hits #{@hits} misses #{@misses}"
  end

  class Slugs
    @@taken = Hash.new(0)

    def self.for(text)
      slug = text.downcase.gsub(/[^\p{L}\p{N}]+/, "-").gsub(/\A-|-\z/, "")
      slug = "section" if slug.empty?
      n = (@@taken[slug] += 1)
      n == 1 ? slug : "#{slug}-#{n}"
    end

    def self.taken = @@taken.values.sum
  end

  # A block is a class that knows how it begins; the registry asks them by priority.
  class Block
    @registry = []

    class << self
      attr_reader :registry, :priority_value

      def inherited(sub)
        super
        Block.registry << sub
      end

      def priority(n) = @priority_value = n
      def opening(re = nil) = re ? @opening = re : @opening
      def ordered = @ordered ||= Block.registry.reject { |k| k.opening.nil? }.sort_by { |k| [-k.priority_value, k.name] }
      def counts = @@counts ||= Hash.new(0)

      def read(lines, document)
        kind = ordered.find { |k| k.opening.match?(lines.first) && k.accept?(lines) } || Paragraph
        counts[kind.name[/\w+\z/].downcase.to_sym] += 1
        kind.new(document).tap { |block| block.take(lines) }
      end

      def accept?(_lines) = true
    end

    attr_reader :document

    def initialize(document)
      @document = document
    end

    def inline(text) = Inline.new(document).convert(text)
    def children(lines) = document.blocks(lines)
    def tag(name, content, **attributes) = "<#{name}#{attributes.compact.map { |k, v| " #{k}=\"#{v}\"" }.join}>#{content}</#{name}>"
  end

  class Heading < Block
    priority 90
    opening(/\A\#{1,6}\s+\S/)
    attr_reader :level, :title, :slug

    def take(lines)
      lines.shift =~ /\A(#+)\s+(.*?)(?:\s+#+)?\s*\z/
      @level, @title = $1.length, $2
      @slug = Slugs.for(@title)
      document.headings << self
    end

    def html = tag("h#{level}", inline(title), id: slug)
  end

  class Rule < Block
    priority 80
    opening(/\A(?:\*\s*){3,}\z|\A(?:-\s*){3,}\z/)
    def take(lines) = lines.shift
    def html = "<hr>"
  end

  class Code < Block
    priority 85
    opening(/\A(?:```|~~~)/)

    COLOURS = Cache.new(4)
    RULES = { comment: /#.*/, string: /"(?:[^"\\]|\\.)*"|'[^']*'/, keyword: /\b(?:def|end|class|if|else|do|return|puts)\b/, number: /\b\d+\b/ }

    def take(lines)
      fence, @language = lines.shift.match(/\A(```|~~~)\s*(\w*)/).captures
      @text = []
      @text << lines.shift until lines.empty? || lines.first.start_with?(fence)
      lines.shift
    end

    def html
      body = @text.join("\n")
      body = @language == "ruby" ? COLOURS.fetch(body) { colour(body) } : Mark.h(body)
      tag("pre", tag("code", body, class: @language.empty? ? nil : "language-#{@language}"))
    end

    def colour(text)
      all = self.class.instance_variable_get(:@all) || self.class.instance_variable_set(:@all, Regexp.new(RULES.map { |n, re| "(?<#{n}>#{re.source})" }.join("|")))
      out = +""
      while (m = all.match(text))
        kind = m.names.find { |n| m[n] }
        out << Mark.h(m.pre_match) << "<i class=\"#{kind[0]}\">" << Mark.h(m[0]) << "</i>"
        text = m.post_match
      end
      out << Mark.h(text)
    end
  end

  class Quote < Block
    priority 70
    opening(/\A>/)

    def take(lines)
      @lines = []
      @lines << lines.shift.sub(/\A>\s?/, "") while lines.first&.match?(/\A>|\A\S/) && !lines.first.empty?
    end

    def html = tag("blockquote", children(@lines))
  end

  class List < Block
    priority 60
    opening(/\A(?:[-*+]|\d+[.)])\s+\S/)

    def take(lines)
      @ordered = lines.first.match?(/\A\d/)
      @start = lines.first[/\A\d+/]&.to_i
      @loose = false
      @items = []
      pattern = @ordered ? /\A\d+[.)]\s+/ : /\A[-*+]\s+/
      until lines.empty?
        if lines.first =~ pattern
          @items << [$'.dup]
          @indent = $&.length
          lines.shift
        elsif lines.first.empty?
          break unless lines[1]&.match?(pattern) || lines[1]&.start_with?("  ")
          @loose = true if lines[1].match?(pattern)
          @items.last << lines.shift
        elsif lines.first.start_with?("  ")
          @items.last << lines.shift.sub(/\A {1,#{@indent}}/, "")
        else
          break
        end
      end
    end

    def html
      items = @items.map do |item|
        body = children(item.dup)
        body = body.sub(/\A<p>(.*?)<\/p>/m, '\1') unless @loose
        done = item.first[/\A\[([ x])\]/, 1]
        tag("li", body.sub(/\A\[[ x]\]\s*/, ""), class: done && (done == "x" ? "done" : "open"))
      end
      tag(@ordered ? "ol" : "ul", items.join, start: @start && @start != 1 ? @start : nil)
    end
  end

  class Table < Block
    priority 50
    opening(/\|/)
    ALIGN = { [true, true] => "center", [false, true] => "right", [true, false] => "left" }

    def self.accept?(lines) = lines[1]&.match?(/\A\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*\z/)

    def take(lines)
      @head = cells(lines.shift)
      @align = cells(lines.shift).map { |c| ALIGN[[c.start_with?(":"), c.end_with?(":")]] }
      @rows = []
      @rows << cells(lines.shift) while lines.first&.include?("|")
    end

    def cells(line) = line.strip.gsub(/\A\||\|\z/, "").split("|", -1).map(&:strip)

    def html
      row = ->(kind, cells) { tag("tr", cells.zip(@align).map { |c, a| tag(kind, inline(c), align: a) }.join) }
      tag("table", ([row.("th", @head)] + @rows.map(&row.curry["td"])).join)
    end
  end

  class Definition < Block
    priority 95
    opening(/\A\[\^?[^\]]+\]:\s+\S/)

    def take(lines)
      lines.shift =~ /\A\[(\^?)([^\]]+)\]:\s+(\S+)(?:\s+"([^"]*)")?(.*)\z/
      if $1 == "^"
        document.notes[$2] = [$3, $4, $5].compact.join(" ").squeeze(" ").strip
      else
        document.links[$2.downcase] = [$3, $4]
      end
    end

    def html = nil
  end

  class Paragraph < Block
    def take(lines)
      @lines = [lines.shift]
      @lines << lines.shift until lines.empty? || lines.first.empty? || Block.ordered.any? { |k| k != Table && k.opening.match?(lines.first) }
    end

    def html = tag("p", inline(@lines.join("\n")))
  end

  # Spans inside a line.
  class Inline
    SPANS = Cache.new(30)
    TOKEN = /(?<escape>\\[\\`*_{}\[\]()#+.!|-])|(?<code>`+)(?<inner>.+?)\k<code>|(?<note>\[\^(?<mark>\w+)\])|(?<image>!)?\[(?<label>[^\]]*)\](?:\((?<url>[^\s)]+)(?:\s+"(?<title>[^"]*)")?\)|\[(?<ref>[^\]]*)\])?|<(?<auto>https?:[^>\s]+)>|(?<mark2>\*\*|__|~~|\*|_)|(?<break>  \n)/

    def initialize(document)
      @document = document
    end

    def convert(text)
      return span(text) if text.include?("[")
      SPANS.fetch(text) { span(text) }
    end

    MARKS = { "**" => "strong", "__" => "strong", "*" => "em", "_" => "em", "~~" => "del" }.freeze

    def span(text)
      out = [+""]
      open = []
      while (m = TOKEN.match(text))
        out.last << Mark.h(m.pre_match)
        text = m.post_match
        if m[:escape] then out.last << Mark.h(m[0][1])
        elsif m[:code] then out.last << "<code>#{Mark.h(m[:inner].strip)}</code>"
        elsif m[:note] then out.last << @document.footnote(m[:mark])
        elsif m[:label] then out.last << link(m)
        elsif m[:auto] then out.last << %(<a href="#{m[:auto]}">#{Mark.h(m[:auto])}</a>)
        elsif m[:break] then out.last << "<br>\n"
        elsif open.last == m[:mark2]
          inner = out.pop
          out.last << "<#{MARKS[open.last]}>#{inner}</#{MARKS[open.pop]}>"
        elsif text.include?(m[:mark2]) && text !~ /\A\s/
          open << m[:mark2]
          out << +""
        else
          out.last << m[:mark2]
        end
      end
      out.last << Mark.h(text)
      out.reverse_each.with_index.inject("") { |tail, (part, i)| (open[-1 - i] && i < open.size ? open[-1 - i] : "") + part + tail }
    end

    def link(m)
      url, title = m[:url] ? [m[:url], m[:title]] : @document.links[(m[:ref].to_s.empty? ? m[:label] : m[:ref]).downcase]
      return Mark.h(m[0]) unless url
      title = title ? " title=\"#{Mark.h(title)}\"" : ""
      m[:image] ? %(<img src="#{Mark.h(url)}" alt="#{Mark.h(m[:label])}"#{title}>) : %(<a href="#{Mark.h(url)}"#{title}>#{span(m[:label])}</a>)
    end
  end

  class Document
    attr_reader :links, :notes, :headings

    def initialize(text)
      @text = text
      @links = {}
      @notes = {}
      @headings = []
      @used = []
    end

    def blocks(lines)
      out = []
      until lines.empty?
        lines.first.empty? ? lines.shift : out << Block.read(lines, self)
      end
      out.map(&:html).compact.join("\n")
    end

    def footnote(name)
      return "[^#{name}]" unless notes.key?(name)
      $footnotes += 1 unless @used.include?(name)
      @used |= [name]
      n = @used.index(name) + 1
      "<sup><a href=\"#fn#{n}\">#{n}</a></sup>"
    end

    def html
      # References may stand behind their use.
      parts = []
      lines = @text.lines.map { |l| l.chomp.gsub("\t", "    ").sub(/(?<! )\s\z/, "") }
      until lines.empty?
        lines.first.strip.empty? ? lines.shift : parts << Block.read(lines, self)
      end
      body = parts.map(&:html).compact.join("\n")
      return body if @used.empty?
      body + "\n<ol class=\"notes\">" + @used.map.with_index(1) { |n, i| "<li id=\"fn#{i}\">#{Inline.new(self).convert(notes[n])}</li>" }.join + "</ol>"
    end

    def contents(list = headings, level = 1)
      return "" if list.empty?
      groups = list.slice_before { |h| h.level <= level }.to_a
      "<ul>" + groups.map { |first, *rest| "<li><a href=\"##{first.slug}\">#{first.title}</a>#{contents(rest, level + 1)}</li>" }.join + "</ul>"
    end
  end

  # A plugin changes blocks by prepending.
  module Numbered
    @numbers = []
    def self.numbers = @numbers

    def html
      list = Numbered.numbers
      list[level - 1] = (list[level - 1] || 0) + 1
      list.slice!(level..)
      super.sub(">", "><b>#{list.map { |n| n || 0 }.join(".")}</b> ")
    end
  end

  TEXTS = [<<~ONE, <<~'TWO', <<~THREE]
    # Tea & *Biscuits*

    A paragraph with **bold _and nested_ text**, `code <b>`, a [link][home] and ![pic](a.png "A \\"b").
    Second line with a break  
    here, a note[^1] and another[^two], ~~gone~~, 2 * 3 * 4, <https://example.org/?a=1&b=2>.

    [home]: https://example.org "Home & away"
    [^1]: The *first* note.
    [^two]: See [home].

    ## List of things

    - one
    - two with [x](y)
      - inner *a*
      - inner b

        deep paragraph
    - [x] done
    - [ ] open

    3. three
    4. four

    > quoted text
    > ### Deep
    lazy line

    ---
  ONE
    ## Code

    ```ruby
    def f(x) # comment <1>
      return "a\"b" if x > 10
    end
    ```

    ~~~
    plain *text* & <tags>
    ~~~

    | Name | Price | **Q** |
    |:-----|------:|:-----:|
    | tea  | 1.50  | `x`   |
    | oak \| elm | 2 | |

    ## Code
    Escapes \*not em\* \# and unclosed **bold and *mixed** here. Snake_case stays? [nowhere][lost] and [^none].
  TWO
    # Ünïcode Größe
    Absatz mit „Anführung“ — und **日本語** text.
    ### Skipped level
    1) a

    2) b
    # Ünïcode Größe
  THREE

  @rounds = 0

  def self.main
    @rounds += 1
    Heading.prepend(Numbered) if @rounds == 2
    puts "== round #{@rounds}"
    TEXTS.each_with_index do |text, i|
      document = Document.new(text + "\n\nRound *#{@rounds}*.\n")
      html = document.html
      key = [i, html.sum]
      puts RENDERED.key?(key) ? "(#{i} as before)" : html
      RENDERED[key] = html.size
      puts document.contents
    end
    puts "blocks #{Block.counts.sort.map { |k, n| "#{k}:#{n}" }.join(" ")}"
    puts "slugs #{Slugs.taken}, notes #{$footnotes}, spans #{Inline::SPANS}, colours #{Code::COLOURS}, kept #{RENDERED.size}"
    puts Block.ordered.map { |k| k.name.split("::").last }.join(" "), Heading.ancestors.first(2).join(" < ")
  end
end

2.times { Mark.main }
