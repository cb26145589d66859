# Makes a directory of texts to align: for each a document, a revised version of it, and spans that somebody marked in the first.
#
#   generate.rb DIRECTORY [DOCUMENTS [SEED]]
#
# Words are made of syllables, so nobody's text is in it. Some documents are ten times as long as others, as it is with real ones.
require "fileutils"

module Generate
  SYLLABLES = %w[ka so mi ren tor vel qua ni shi pho lac gen mut ase in pro ter ba cyt lu].freeze
  GREEK = %w[alpha beta gamma delta kappa].zip(%w[α β γ δ κ]).freeze

  module_function

  def word(random) = Array.new(1 + random.rand(4)) { SYLLABLES.sample(random: random) }.join

  def document(random, words)
    vocabulary = Array.new(400) { word(random) }
    text = +""
    spans = []
    words.times do |i|
      text << (i.zero? ? "" : random.rand(12).zero? ? ".\n" : " ")
      name = random.rand(15).zero?
      spans << [text.size, nil] if name
      text << vocabulary[(random.rand**2 * vocabulary.size).to_i]
      text << "-" << GREEK.sample(random: random)[0] if name
      spans.last[1] = text.size if name
    end
    [text, spans]
  end

  # What editors and converters do to a text: letters become signs, spaces and line breaks change, words are dropped, added and replaced.
  def revised(random, text)
    text = text.gsub(/-(alpha|beta|gamma|delta|kappa)\b/) { random.rand(2).zero? ? "-#{GREEK.to_h[$1]}" : $& }
    text.gsub(/(\w+)(\s+|\.\n)?/) do
      word, space = $1, $2
      case random.rand(40)
      when 0 then ""
      when 1 then "#{word} #{word(random)}#{space}"
      when 2 then "#{word(random)}#{space}"
      when 3 then "#{word.capitalize}#{space}"
      when 4 then "#{word}  "
      else "#{word}#{space}"
      end
    end
  end

  def into(directory, documents, seed)
    FileUtils.mkdir_p(directory)
    documents.times do |i|
      random = Random.new(seed * 100_000 + i)
      text, spans = document(random, i % 10 == 9 ? 4000 : 300 + random.rand(300))
      base = File.join(directory, format("%04d", i))
      File.write("#{base}.txt", text)
      File.write("#{base}.new.txt", revised(random, text))
      File.write("#{base}.spans", spans.map { |from, to| "#{from} #{to}\n" }.join)
    end
  end
end

if __FILE__ == $0
  abort "usage: generate.rb DIRECTORY [DOCUMENTS [SEED]]" unless ARGV[0]
  Generate.into(ARGV[0], Integer(ARGV[1] || 100), Integer(ARGV[2] || 1))
end
