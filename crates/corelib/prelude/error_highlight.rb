# ErrorHighlight: marks the piece of the source line at which an exception was raised, in detailed messages.
module ErrorHighlight
  # Stays reachable when the constant is gone.
  HERE = self
  private_constant :HERE

  # Lines of an ArgumentError that the callee raised before its body ran.
  ARGUMENTS = ["wrong number of arguments", "missing keyword", "unknown keyword", "no keywords accepted"].freeze
  private_constant :ARGUMENTS

  # How a marked line is laid out.
  class DefaultFormatter
    WIDTH = 80
    MIN_WIDTH = 20

    class << self
      # The line with its marks, below a message; "" for more than one line.
      def message_for(spot)
        return "" unless spot[:first_lineno] == spot[:last_lineno]
        line, marks = __marked(spot)
        "\n\n#{line}\n#{marks}"
      end

      # The characters of a line that are shown at most, 80 unless set.
      def max_snippet_width = @max_snippet_width ||= WIDTH

      # Sets the characters of a line that are shown at most: 20 or more, nil for 80.
      def max_snippet_width=(width)
        width ||= WIDTH
        width = width.to_i
        if width < MIN_WIDTH
          warn "'max_snippet_width' adjusted to minimum value of #{MIN_WIDTH}."
          width = MIN_WIDTH
        end
        @max_snippet_width = width
      end

      # The line, cut around the marks when it is long, and the line of marks.
      def __marked(spot)
        text = spot[:snippet].chomp
        first, last = spot[:first_column], spot[:last_column]
        width = max_snippet_width
        if text.size > width
          keep = width - 3
          from = [first - keep / 2, 0].max
          from = [from, [text.size - keep, 0].max].min
          if from > 0
            text = "..." + (text[from + 3..] || "")
            first = [first - from, 3].max
            last -= from
          end
          if text.size > width
            text = text[0, width - 3] + "..."
            last = [last, width].min
          end
          last = first + 1 if last <= first
        end
        [text, text[0, first].gsub(/[^\t]/, " ") + "^" * (last - first)]
      end
    end
  end

  @formatter = DefaultFormatter

  class << self
    # `formatter`: What writes the marked line: it has `message_for`.
    attr_accessor :formatter

    # What to mark for an exception: a Hash, or nil.
    def spot(exc, point_type: nil, backtrace_location: nil, name: nil)
      return nil unless Exception === exc
      point_type ||= TypeError === exc || ArgumentError === exc ? :args : :name
      level = 0
      if backtrace_location
        level = exc.backtrace_locations&.index { |l| l.equal?(backtrace_location) || l.to_s == backtrace_location.to_s }
        return nil unless level
      end
      found = __hash(__spot(exc, level, (:args if point_type == :args))) or return nil
      found[:script_lines] = __source(exc, level).lines
      found
    end

    def __for(exc)
      if ArgumentError === exc && exc.message.start_with?(*ARGUMENTS)
        pair = __caller_and_callee(exc)
        return pair if pair
      end
      found = __hash(__spot(exc, 0, (:args if TypeError === exc || ArgumentError === exc))) or return ""
      formatter.message_for(found)
    end

    private

    def __hash(found)
      return nil unless found
      line, first, last, snippet = found
      { first_lineno: line, first_column: first, last_lineno: line, last_column: last, snippet: snippet }
    end

    # The call with the wrong arguments and the definition that it does not fit; nil for builtins.
    def __caller_and_callee(exc)
      callee = __hash(__spot(exc, 0, :definition)) or return nil
      from = __hash(__spot(exc, 1, nil)) or return nil
      locations = exc.backtrace_locations
      return nil if !locations || locations.size < 2
      out = +"\n"
      [["caller", from, locations[1]], ["callee", callee, locations[0]]].each do |what, spot, location|
        line, marks = DefaultFormatter.__marked(spot)
        out << "\n    #{what}: #{location.path}:#{location.lineno}\n    | #{line}\n      #{marks}"
      end
      out
    end
  end

  # Adds the marked line to an exception class's detailed messages.
  module CoreExt
    # The message with the marked line, unless `error_highlight: false`.
    def detailed_message(highlight: false, error_highlight: true, **)
      return super unless error_highlight && HERE.send(:__enabled?)
      text = super
      begin
        marked = HERE.__for(self)
      rescue StandardError
        return text
      end
      return text if marked.empty?
      marked = marked.gsub(/.+/) { "\e[1m#{$&}\e[m" } if highlight
      text + marked
    end
  end

  [NameError, TypeError, ArgumentError].each { |c| c.prepend(CoreExt) }
end
