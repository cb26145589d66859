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
    MIN_SNIPPET_WIDTH = 20

    class << self
      # The line with its marks, below a message; "" for more than one line.
      def message_for(spot)
        return "" unless spot[:first_lineno] == spot[:last_lineno]
        text, first, last = __cut(spot[:snippet], spot[:first_column], spot[:last_column])
        "\n\n#{text}#{text[0, first].gsub(/[^\t]/, " ")}#{"^" * (last - first)}"
      end

      # The characters of a line that are shown at most: those of the terminal unless set; nil for all.
      def max_snippet_width
        @max_snippet_width = terminal_width if @max_snippet_width.nil?
        @max_snippet_width || nil
      end

      # Sets the characters of a line that are shown at most: 20 or more, nil for all.
      def max_snippet_width=(width)
        return @max_snippet_width = false if width.nil?
        width = width.to_i
        if width < MIN_SNIPPET_WIDTH
          warn "'max_snippet_width' adjusted to minimum value of #{MIN_SNIPPET_WIDTH}."
          width = MIN_SNIPPET_WIDTH
        end
        @max_snippet_width = width
      end

      # Columns of the terminal that standard error is; nil if it is none.
      def terminal_width
        return unless $stderr.tty?
        require "io/console"
        $stderr.winsize[1]
      rescue LoadError, NoMethodError, SystemCallError
        nil
      end

      # The piece of a line that is shown, with its newline, and the columns of the marks in it. The line's newline counts for its width.
      def __cut(line, first, last)
        size, width = line.size, max_snippet_width
        return [line, first, last] unless width && size > width
        from = last < width - 3 ? 0 : [first - width / 2, 0].max
        upto = from + width
        from = size - width if upto > size
        left, right = from > 0, upto < size
        text = line[(left ? from + 3 : from)...(right ? upto - 3 : upto)]
        text = "...#{text}" if left
        text = "#{text}..." if right
        text = "#{text}\n" unless text.end_with?("\n")
        [text, first - from, [last - from, text.size - 1].min]
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
      locations = exc.backtrace_locations or return nil
      level = 0
      if backtrace_location
        level = locations.index { |l| l.equal?(backtrace_location) || l.to_s == backtrace_location.to_s }
        return nil unless level
      elsif locations.empty?
        return nil
      end
      found = __hash(__spot(exc, level, (:args if point_type == :args))) or return nil
      found[:script_lines] = __source(exc, level).lines
      found
    end

    def __for(exc)
      return "" unless exc.backtrace_locations&.first
      return __caller_and_callee(exc) if ArgumentError === exc && exc.message.start_with?(*ARGUMENTS)
      found = __hash(__spot(exc, 0, (:args if TypeError === exc || ArgumentError === exc))) or return ""
      formatter.message_for(found)
    end

    private

    def __hash(found)
      return nil unless found
      line, first, last, snippet = found
      { first_lineno: line, first_column: first, last_lineno: line, last_column: last, snippet: snippet }
    end

    # The call with the wrong arguments and the definition that it does not fit: of a builtin the call alone.
    def __caller_and_callee(exc)
      callee, from = exc.backtrace_locations
      return "" unless callee && from
      there, here = __hash(__spot(exc, 0, :definition)), __hash(__spot(exc, 1, nil))
      sides = [["caller", from, here]]
      unless there && there == here && callee.path == from.path && callee.lineno == from.lineno
        sides << ["callee", callee, there]
      end
      out = +"\n"
      sides.each do |what, location, spot|
        out << "\n    #{what}: #{location.path}:#{location.lineno}"
        next unless spot
        _, _, line, marks = formatter.message_for(spot).lines
        out << "\n    | #{line}      #{marks}"
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
