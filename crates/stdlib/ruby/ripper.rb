# ripper: prism's translation, under the name that programs know, and what it lacks.
require "prism"

Ripper = Prism::Translation::Ripper

class Ripper
  Version = "0.1.0"

  # Of the parser that this stands for: there is none whose work could be shown.
  attr_accessor :yydebug, :debug_output

  # The lexer's state, between two tokens. Events come after the source was read: there is none.
  def state = nil

  # Takes at most so many columns of spaces from the begin of a line; how many it had.
  def self.dedent_string(line, width)
    raise TypeError, "no implicit conversion of #{line.class} into String" unless line.is_a?(String)
    column = at = 0
    while column < width && at < line.bytesize
      case line.getbyte(at)
      when 0x20 then column += 1
      when 0x09
        tab = (column / 8 + 1) * 8
        break if tab > width
        column = tab
      else break
      end
      at += 1
    end
    line.replace(line.byteslice(at..)) if at > 0
    column
  end

  private def dedent_string(line, width) = Ripper.dedent_string(line, width)

  # The text of a part of a source that a pattern of tokens matches: `Ripper.slice("p 1", "ident $(sp) int", 1)`.
  def self.slice(source, pattern, n = 0)
    match = token_match(source, pattern) and match.string(n)
  end

  # The first tokens that a pattern matches. A word is a token's name, `$(...)` a group that can be asked for; the rest is as in a Regexp.
  def self.token_match(source, pattern) = TokenMatch.find(lex(source).map { |token| token.first(3) }, pattern)

  class TokenMatch # :nodoc:
    LETTERS = SCANNER_EVENTS.each_with_index.to_h { |name, i| [name.to_s, (0x100 + i).chr(Encoding::UTF_8)] }.freeze

    def self.find(tokens, pattern)
      groups = pattern.gsub(/\$\(|\(/) { |open| open == "(" ? "(?:" : "(" }
      letters = groups.gsub(/[a-z]\w*/) { |name| LETTERS[name] or raise ArgumentError, "invalid token pattern: #{pattern.inspect}" }
      row = tokens.map { |_, event,| LETTERS[event.to_s.delete_prefix("on_")] || "\0" }.join
      match = Regexp.new(letters.delete(" \t\n")).match(row) and new(tokens, match)
    end

    def initialize(tokens, match)
      @tokens, @match = tokens, match
    end

    def match(n = 0) = @match.begin(n) ? @tokens[@match.begin(n)...@match.end(n)] : []
    def string(n = 0) = @match.begin(n) && match(n).map(&:last).join
  end
  private_constant :TokenMatch

  class Lexer
    # What is wrong with the source, as tokens.
    def errors
      Prism.parse(@source, filepath: filename, line: lineno, version: "current").errors.map do |error|
        at = error.location
        Elem.new([at.start_line, at.start_column], :on_parse_error, at.slice, 0, error.message)
      end
    end
  end
end
