# Autoloaded by text_align.rb: words and what they are, found by a trie that is built when it is first needed.

module TextAlign
  module Lexicon
    ENTRIES = {
      "TNF-α" => "protein", "NF-κB" => "protein", "T cells" => "cell", "p53" => "gene", "p53 gene" => "gene", "HeLa cells" => "cell", "IL-2" => "protein",
      "IL-2 receptor" => "protein", "Interleukin-2" => "protein", "yeast" => "species", "mutant" => "state", "Wild type" => "state"
    }
    @lookups = Hash.new(0)

    class << self
      def trie
        @trie ||= ENTRIES.each_with_object({}) do |(word, type), root|
          node = word.each_char.inject(root) { |at, c| at[c] ||= {} }
          node[:type] = type
        end
      end

      def add(word, type)
        raise ArgumentError, "empty word" if word.empty?
        ENTRIES[word] = type
        @trie = nil
        yield "#{word}=#{type}" if block_given?
        type
      end

      # Longest words first, no overlaps, whole words only.
      def tag(text)
        out = []
        at = 0
        while at < text.length
          length, type = longest(text, at)
          if length && (at.zero? || text[at - 1] !~ /[[:alnum:]]/) && text[at + length].to_s !~ /\A[[:alnum:]]/
            @lookups[type] += 1
            out << Denotation.new("T#{out.size + 1}", at, at + length, type)
            at += length
          else
            at += 1
          end
        end
        out
      end

      def summary = "#{ENTRIES.size} words, #{@lookups.sort.map { |t, n| "#{t}:#{n}" }.join(" ")}"

      private

      def longest(text, at)
        node = trie
        best = nil
        length = 0
        while (node = node[text[at + length]])
          length += 1
          best = [length, node[:type]] if node[:type]
        end
        best
      end
    end
  end
end
