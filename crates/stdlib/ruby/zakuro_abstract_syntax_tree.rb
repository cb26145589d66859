# RubyVM::AbstractSyntaxTree: programs as the nodes of parse.y, CRuby's older parser. They are made from prism's, which alone parses here; so `of` says what CRuby says of
# programs that prism has compiled. Tokens are made from Ripper's.
class RubyVM
  module AbstractSyntaxTree
    # A piece of the source; columns count bytes.
    class Location
      # `first_lineno`: The first line, from 1.
      # `first_column`: The byte in the first line, from 0.
      # `last_lineno`: The last line.
      # `last_column`: The byte behind the last one, in the last line.
      attr_reader :first_lineno, :first_column, :last_lineno, :last_column

      # A piece from a line and column to another.
      def initialize(first_lineno, first_column, last_lineno, last_column)
        @first_lineno, @first_column, @last_lineno, @last_column = first_lineno, first_column, last_lineno, last_column
      end

      # The lines and columns.
      def inspect = "#<#{self.class}:@#{first_lineno}:#{first_column}-#{last_lineno}:#{last_column}>"
    end

    class Node
      # `type`: The kind of node, a Symbol: :SCOPE, :CALL.
      # `children`: The parts: nodes, names, values, nil.
      # `node_id`: The number of the node.
      # `locations`: The pieces of the source, the node's own first.
      # `script_lines`: The lines of the source, if they were kept.
      attr_reader :type, :children, :node_id, :locations, :script_lines

      class << self
        # TypeError: nodes come from `parse`.
        def allocate = raise(TypeError, "allocator undefined for #{self}")
        def __make(...) = __new(...)
        alias __new new
        private :new, :__new
      end

      # :nodoc:
      def initialize(type, children, node_id, locations, lines)
        @type, @children, @node_id, @locations, @script_lines = type, children, node_id, locations, lines
      end

      # The first line, from 1.
      def first_lineno = @locations[0].first_lineno
      # The byte in the first line, from 0.
      def first_column = @locations[0].first_column
      # The last line.
      def last_lineno = @locations[0].last_lineno
      # The byte behind the last one, in the last line.
      def last_column = @locations[0].last_column

      # The text of the node, when the lines were kept.
      def source
        return unless @script_lines
        lines = @script_lines[first_lineno - 1..last_lineno - 1].map(&:dup)
        lines[-1] = lines[-1].byteslice(0, last_column)
        lines[0] = lines[0].byteslice(first_column..)
        lines.join
      end

      # The tokens within the node, when tokens were kept: Arrays of number, name, text, and [line, column, last line, column behind the last byte].
      def tokens
        first, last = [first_lineno, first_column], [last_lineno, last_column]
        @tokens&.select { |t| (first <=> t[3][0, 2]) <= 0 && (last <=> t[3][2, 2]) >= 0 }
      end

      # All tokens of the text, when tokens were kept.
      def all_tokens = @tokens

      def __keep(tokens)
        @tokens = tokens
        left = [children]
        while (list = left.pop)
          list.each do |c|
            case c
            when Node then c.__keep(tokens)
            when Array then left << c
            end
          end
        end
        self
      end
      # The kind of node, with lines and columns.
      def inspect = "(#{@type}@#{first_lineno}:#{first_column}-#{last_lineno}:#{last_column})"
    end

    class << self
      # The root node of a text, or of what an IO has; SyntaxError if it is wrong.
      #
      #     RubyVM::AbstractSyntaxTree.parse("1 + 2").type   #=> :SCOPE
      def parse(source, keep_script_lines: false, error_tolerant: false, keep_tokens: false)
        source = source.read if !source.is_a?(String) && source.respond_to?(:read)
        text = String.try_convert(source) || raise(TypeError, "no implicit conversion of #{source.nil? || source == true || source == false ? source.inspect : source.class} into String")
        __tree(text, "-", keep_script_lines, error_tolerant, keep_tokens)
      end

      # The root node of a file; SyntaxError if it is wrong.
      def parse_file(path, keep_script_lines: false, error_tolerant: false, keep_tokens: false)
        __tree(File.read(path), path.to_s, keep_script_lines, error_tolerant, keep_tokens)
      end

      # A body's nodes are gone when it is compiled.
      def of(body, keep_script_lines: false, error_tolerant: false, keep_tokens: false)
        case body
        when Proc then raise RuntimeError, "cannot get AST for ISEQ compiled by prism"
        when Method, UnboundMethod
          return unless body.source_location && !body.source_location[0].start_with?("<internal:")
          # An attribute's method has a place, but no body.
          return unless RubyVM::InstructionSequence.of(body)
          raise RuntimeError, "cannot get AST for ISEQ compiled by prism"
        when Thread::Backtrace::Location then raise RuntimeError, "cannot get AST for ISEQ compiled by prism"
        else raise TypeError, "wrong argument type #{body.class} (expected Proc/Method/UnboundMethod)"
        end
      end

      # The number of the node, among those that Prism makes of the file, at which a level of a backtrace stands.
      def node_id_for_backtrace_location(location)
        raise TypeError, "Thread::Backtrace::Location object expected" unless Thread::Backtrace::Location === location
        location.__send__(:__node_id)
      end

      private def __tree(text, path, lines, tolerant, tokens)
        # What is wrong is said in the words of every other program's errors.
        RubyVM::InstructionSequence.compile(text, path, path) unless tolerant
        require "zakuro/abstract_syntax_tree/translator"
        tree = Translator.new(text, lines).program
        return tree unless tokens
        require "zakuro/abstract_syntax_tree/tokens"
        tree.__keep(Tokens.new(text).list)
      end
    end
  end
end
