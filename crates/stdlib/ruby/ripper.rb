# ripper: prism's translation, under the name that programs know, and what it lacks.
require "prism"

Ripper = Prism::Translation::Ripper

class Ripper
  Version = "0.1.0"

  # Of the parser that this stands for: there is none whose work could be shown.
  attr_accessor :yydebug, :debug_output

  # The translation counts lines from 1, and columns of the first one from before a byte order mark.
  module FirstLine # :nodoc:
    BOM = "\xEF\xBB\xBF".b

    def initialize(source, filename = "(ripper)", lineno = 1)
      filename = filename.dup
      if !source.is_a?(IO) && !source.is_a?(String) && source.respond_to?(:gets)
        lines = []
        while (line = source.gets)
          break @__no_line = line unless line.is_a?(String)
          lines << line
        end
        source = lines.join
      end
      super
      @__lines_before = @lineno - 1
      @__mark = @source.getbyte(0) == 0xEF && @source.byteslice(0, 3).b == BOM ? BOM.bytesize : 0
    end

    private def bounds(location)
      super
      @column -= @__mark if @lineno == 1
      @lineno += @__lines_before
    end
  end
  private_constant :FirstLine
  prepend FirstLine

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

  # A subclass that handles tokens which belong to no node (spaces, line ends, commas, most keywords) gets every token once, in the order of the source, and the event
  # of a node after its tokens; as from CRuby's parser, which sees a token more before it knows that most nodes are over. The translation walks over a tree: what it tells of is taken as
  # the place up to which tokens are told. Lists of statements, arguments and targets are told to begin (`args_new`, ...) after their first part, when it is added.
  module Interleaved # :nodoc:
    SCANNER_EVENTS.each do |event|
      # The contents of a string begin right behind what opens it.
      opens = { tstring_beg: :on_string_content, heredoc_beg: :on_string_content, regexp_beg: :on_regexp_new, backtick: :on_xstring_new }[event]
      private(define_method(:"on_#{event}") do |token|
        __token(event, token) do
          told = super(token)
          @__contents << [opens, method(opens).super_method.call] if opens && !(event == :heredoc_beg && token.include?("`"))
          told
        end
      end)
    end
    # Keywords that the translation tells of before it comes to what stands in front of them (modifiers), and whose values nothing takes.
    BETWEEN_NODES = %w[if unless while until rescue do then end and or not in].freeze
    # What a token more could not make anything else.
    ALONE = %i[symbol symbol_literal dyna_symbol string_add string_embexpr string_dvar xstring_add regexp_add word_add string_literal xstring_literal regexp_literal block_var rest_param kwrest_param].freeze
    # The same, where they end with what closes them.
    CLOSED = %i[call class module sclass def defs begin if unless while until case for paren array hash do_block brace_block lambda arg_paren method_add_arg method_add_block elsif else ensure in when].freeze

    # What ends with statements is over when the line ends are over, too.
    BODIES = %i[bodystmt else elsif when in rescue ensure].freeze
    # Lists that begin when their first word is there.
    WORDS = %i[words_new qwords_new symbols_new qsymbols_new].freeze
    # Told as soon as the part is over.
    PARTS = %i[string_add xstring_add regexp_add word_add arg_paren].freeze
    # Lists whose begin is told when their first part is added; a name that is called, when its arguments are over.
    LATE = %i[args_new stmts_new mlhs_new mrhs_new word_new fcall].freeze
    # Such a begin. It is told once, when something takes it.
    class Begin # :nodoc:
      def initialize(&tell) = @tell = tell
      def value
        @value = @tell.call if @tell
        @tell = nil
        @value
      end
    end
    # A block, which follows what is told of the call that it belongs to.
    Block = Class.new(Begin) # :nodoc:
    private_constant :Begin, :Block

    LATE.each do |event|
      private(define_method(:"on_#{event}") do |*parts|
        late = Begin.new { super(*parts) }
        @__begin = late if event == :stmts_new
        late
      end)
    end

    def visit_call_node(node)
      # Without dot, parentheses and arguments, a call is one only when its block is over.
      if Prism::BlockNode === node.block && (node.call_operator_loc || node.opening_loc || node.arguments)
        whole = node.location
        @__blocks[node.block] = [whole.start_offset, whole.end_offset]
        @__heads[@__blocks[node.block]] = (node.closing_loc || node.arguments&.location || node.message_loc || node.call_operator_loc).end_offset
      end
      super
    end

    def visit_block_node(node)
      place = @__blocks.delete(node) or return super
      Block.new do
        @__heads.delete(place)
        super(node)
      end
    end

    CONTENTS = %i[string_content regexp_new xstring_new].freeze
    CONTENTS.each do |event|
      name = :"on_#{event}"
      private(define_method(name) { @__contents.last&.first == name ? @__contents.pop.last : super() })
    end

    (PARSER_EVENTS - LATE - CONTENTS).each do |event|
      # What begins a list comes before it, all others after what they are made of.
      first = event.end_with?("_new") && event != :assoc_new || event == :void_stmt || event == :excessed_comma
      private(define_method(:"on_#{event}") do |*parts|
        if parts.any?(Block)
          here = [@__at, @lineno, @column]
          parts = parts.map { |part| Block === part ? part.value : part }
          @__at, @lineno, @column = here
        end
        # An empty list of statements begins before the nothing that is in it.
        @__begin.value if event == :void_stmt && @__begin
        if event == :params && parts.none? || WORDS.include?(event)
          # A method without any is over for the translation.
          __token_ahead
        elsif PARTS.include?(event)
          # What ends a heredoc is read with its last line.
          __tell if @__waiting && (token = @__waiting[@__next]) && token[1] == :on_heredoc_end
        elsif (at = @__at)
          stop = @__heads[[at.start_offset, at.end_offset]] || at.end_offset
          __tokens_up_to(first ? at.start_offset : stop)
          __token_ahead(stop, BODIES.include?(event)) unless first || ALONE.include?(event) || CLOSED.include?(event) && CLOSE.include?(@__last)
        end
        super(*parts.map { |part| Begin === part ? part.value : part })
      end)
    end

    def parse
      starts = [0]
      @source.each_line { |line| starts << starts.last + line.bytesize }
      starts[0] += @__mark
      line = @lineno
      tokens = Ripper.lex(@source, filename, line).map { |(row, column), event, text,| [starts[row - line] + column, event, text, row, column] }
      @__waiting = __bodies_first(__whole_lines(tokens))
      @__index = @__waiting.each_with_index.to_h { |token, index| [token[0], index] }
      @__done = {}
      @__contents = []
      @__heredocs = 0
      @__blocks = {}.compare_by_identity
      # Places of calls whose blocks are not told of yet, and where what stands before those ends.
      @__heads = {}
      @__next = 0
      # Of a source with errors there are only tokens.
      super.tap { __tokens_up_to(Float::INFINITY) }
    end

    private

    def on_program(*parts)
      __tokens_up_to(Float::INFINITY)
      super
    end

    # Warnings come first, too.
    def warn(*) = super.tap { @__at = nil }
    def warning(*) = super.tap { @__at = nil }

    def bounds(location)
      @__at = location
      super
    end

    # The parser has seen a token more, unless it ends with what can't go on.
    CLOSE = ["end", ")", "]", "}", "\"", "'", "`"].freeze
    ENDS = %i[on_nl on_semicolon].freeze
    BETWEEN = %i[on_sp on_words_sep on_comment on_ignored_nl on_embdoc_beg on_embdoc on_embdoc_end].freeze
    def __token_ahead(stop = 0, body = false)
      # Not what was told already.
      return if stop > 0 && @__last_at && @__last_at >= stop && !(body && ["\n", ";"].include?(@__last))
      return if body && CLOSE.include?(@__last) && @__last_at < stop && @__last_at + @__last.bytesize >= stop
      at = @__next
      at += 1 while (token = @__waiting[at]) && (BETWEEN.include?(token[1]) || body && ENDS.include?(token[1]))
      # A comment behind a statement ends it, unless the next line goes on with a call.
      ended = at > @__next && @__waiting[@__next...at].any? { |_, event, _, row| event == :on_comment && row == @__waiting[@__next][3] }
      if ended && token && !%w[. &.].include?(token[2])
        @__last_at = stop
        return __tokens_up_to(token[0])
      end
      __tokens_up_to(token ? token[0] + 1 : Float::INFINITY)
    end

    def __token(event, text)
      return yield if @__telling
      return text if event == :kw && BETWEEN_NODES.include?(text)
      # Comments come first of all from the translation: they have their place, too.
      return @__at = nil if event == :comment || event.start_with?("embdoc") || event == :__end__
      at = @__at.start_offset
      if (index = @__index[at])
        __tell while @__next < index
      end
      return @__done[at] if @__done.key?(at)
      if (token = @__waiting[@__next]) && token[0] == at
        @__next += 1
      end
      __was_told(event, text, at)
      @__done[at] = yield
    end

    # The body of a heredoc stands behind what is told after it.
    def __was_told(event, text, at)
      @__last = text
      @__heredocs -= 1 if event.end_with?("heredoc_end")
      @__last_at = at unless @__heredocs > 0 || event.end_with?("heredoc_end")
      @__heredocs += 1 if event.end_with?("heredoc_beg")
    end

    def __tokens_up_to(offset)
      __tell while (token = @__waiting[@__next]) && token[0] < offset
    end

    def __tell
      at, event, text, row, column = @__waiting[@__next]
      @__next += 1
      return if @__done.key?(at)
      was = [@lineno, @column]
      @lineno, @column = row, column
      @__telling = true
      __was_told(event, text, at) unless BETWEEN.include?(event)
      @__done[at] = send(event, text)
      @__telling = false
      @lineno, @column = was
    end

    # What `<<~` takes from the begin of its lines is a token to the lexer alone.
    def __whole_lines(tokens)
      tokens.each_with_index.filter_map do |(at, event, text, row, column), index|
        if event == :on_ignored_sp
          _, following, rest, = tokens[index + 1]
          [at, :on_tstring_content, following == :on_tstring_content ? text + rest : text, row, column]
        elsif event != :on_tstring_content || index.zero? || tokens[index - 1][1] != :on_ignored_sp
          [at, event, text, row, column]
        end
      end
    end

    # A heredoc is read where it is named, before the rest of that line. (What is named within another one stays where it is.)
    def __bodies_first(tokens)
      out = []
      at = 0
      line = after = nil
      while (token = tokens[at])
        if after && token[3] > line
          at, after = after, nil
          next
        end
        out << token
        at += 1
        next unless token[1] == :on_heredoc_beg
        line = token[3]
        from = after || at
        from += 1 while !after && tokens[from] && tokens[from][3] == line
        stop, depth = from, 0
        while (inner = tokens[stop])
          depth += 1 if inner[1] == :on_heredoc_beg
          break if inner[1] == :on_heredoc_end && (depth -= 1) < 0
          stop += 1
        end
        out.concat(tokens[from..stop])
        after = stop + 1
      end
      out
    end
  end
  private_constant :Interleaved

  # Warnings and errors in the words of CRuby's parser: formats with what belongs in them, and the events that it has for some errors.
  module Complaints # :nodoc:
    def self.in_words(message) = message.start_with?("identifier ") && message.end_with?(" is not valid to set") ? NO_VARIABLE : message

    WARNINGS = {
      duplicated_hash_key: [:warn, "key %p is duplicated and overwritten on line %d", /\Akey (.+) is duplicated and overwritten on line (\d+)\z/m],
      indentation_mismatch: [:warn, "mismatched indentations at '%s' with '%s' at %d", /\Amismatched indentations at '(.+)' with '(.+)' at (\d+)\z/],
      ignored_frozen_string_literal: [:warning, "'%s' is ignored after any tokens", /\A'(\w+)' is ignored/],
      invalid_magic_comment_value: [:warning, "invalid value for %s: %s", /\Ainvalid value for (\w+): (.*)\z/m],
      duplicated_when_clause: [:warning, "'when' clause on line %d duplicates 'when' clause on line %d and is ignored", /line (\d+) duplicates .* line (\d+)/]
    }.freeze
    AMBIGUOUS = { ambiguous_first_argument_plus: "+", ambiguous_first_argument_minus: "-", ambiguous_slash: "/" }.freeze
    # What is said to `compile_error`.
    COMPILE = %i[
      regexp_term heredoc_term argument_no_forwarding_star argument_no_forwarding_star_star argument_no_forwarding_ampersand instance_variable_bare class_variable_bare
      global_variable_bare incomplete_variable_instance incomplete_variable_class invalid_variable_global
    ].freeze
    # What is wrong with a program that has all its nodes.
    WHOLE = %i[
      def_endless_setter invalid_retry_without_rescue invalid_retry_after_else invalid_retry_after_ensure invalid_block_exit invalid_yield return_invalid parameter_name_duplicated
      parameter_numbered_reserved
    ].freeze
    PARAMETERS = %i[argument_formal_class argument_formal_constant argument_formal_global argument_formal_ivar].freeze
    NO_VARIABLE = "formal argument must be local variable"
    # What was told already: there is something, but nothing to walk over.
    Told = Class.new(Array) { def each = self } # :nodoc:
    MagicComment = Struct.new(:key, :value)
    # What is in a source. Nothing in it that the translation would walk over was told already.
    class Found # :nodoc:
      attr_reader :all_warnings, :all_errors, :warnings, :errors, :magic_comments

      def initialize(result)
        @result = result
        @all_warnings, @all_errors = result.warnings, result.errors
        @warnings, @errors = Told.new, Told.new(@all_errors)
        @magic_comments = result.magic_comments.map { |comment| MagicComment.new(comment.key.tr("-", "_"), comment.value) }
      end

      def value = @result.value
      def source = @result.source
      def comments = @result.comments
      def data_loc = @result.data_loc
      def failure? = !@all_errors.empty?
    end
    private_constant :Told, :MagicComment, :Found

    PLAIN = [Ripper, SexpBuilder, SexpBuilderPP].freeze
    TOKENS = %i[on_sp on_nl on_ignored_nl on_comma on_semicolon on_comment on_kw].freeze
    private_constant :PLAIN, :TOKENS

    def parse
      raise TypeError, "wrong argument type #{@__no_line.class} (expected String)" if @__no_line
      if !@__interleaves && __handles_tokens?
        @__interleaves = true
        singleton_class.prepend(Interleaved)
        return parse
      end
      @__parses = true
      found = result
      found.all_warnings.each { |warning| __warned(warning) }
      __errors_first(found.all_errors) if found.failure?
      super
    ensure
      @__parses = false
      @__refused = nil
    end

    # A program whose errors leave it whole is walked over.
    def error? = @__refused ? false : super

    %i[local_variable global_variable constant constant_path].each do |kind|
      ["", "_operator", "_and", "_or"].each do |operation|
        define_method(:"visit_#{kind}#{operation}_write_node") do |node|
          message = __refusal(node, (node.operator_loc if operation.empty?)) or return super(node)
          __refused_write(node, message, operation.empty?)
        end
      end

      define_method(:"visit_#{kind}_target_node") do |node|
        message = __refusal(node) or return super(node)
        next on_assign_error(message, super(node)) unless kind == :local_variable
        bounds(node.location)
        on_assign_error(message, on_var_field(visit_token(node.slice)))
      end
    end

    # Part of a list of targets: `$&, a = 1`.
    def visit_error_recovery_node(node)
      message = __refusal(node) or return super
      bounds(node.location)
      on_assign_error(message, on_var_field(on_backref(node.slice)))
    end

    def visit_alias_global_variable_node(node)
      message = __refusal(node.old_name) or return super
      bounds(node.keyword_loc)
      on_kw("alias")
      bounds(node.new_name.location)
      on_gvar(node.new_name.slice)
      bounds(node.old_name.location)
      number = on_backref(node.old_name.slice)
      bounds(node.location)
      on_alias_error(message, number)
    end

    # Outside `parse` nothing is read.
    def lineno = @__parses ? super : nil
    def column = @__parses ? super : nil

    private

    # Whether tokens are handled that belong to no node.
    def __handles_tokens?
      return if PLAIN.include?(self.class) && singleton_methods(false).empty?
      TOKENS.any? { |name| !PLAIN.include?(method(name).owner) }
    end

    # What is wrong is told first, but for what the walk comes to.
    def __errors_first(errors)
      errors = errors.uniq { |error| [error.type, error.location.start_offset] }
      places = errors.select { |error| __place?(error) } if errors.all? { |error| WHOLE.include?(error.type) || __place?(error) }
      (errors - places.to_a).each { |error| __wrong(error) }
      @__refused = places&.to_h { |error| [error.location.start_offset, error.message[/[^;]*\z/].lstrip] }
    end

    def result = @__found ||= Found.new(super)

    # Is an error told of where the walk comes to its place?
    def __place?(error) = error.type.start_with?("expression_not_writable", "write_target") || error.type == :alias_argument_numbered_reference

    # What is said of a node that can't be assigned to; the error stands at its begin, or at the operator.
    def __refusal(node, operator = nil)
      return if @__refused.nil? || @__refused.empty?
      @__refused[node.location.start_offset] || operator && @__refused[operator.start_offset]
    end

    # An assignment to what can't be assigned to: the target is wrong, of `$& += 1` all.
    def __refused_write(node, message, plain)
      constant_path = node.respond_to?(:target)
      name = node.name_loc.slice unless constant_path
      reference = name&.match?(/\A\$[&`'+\d]/)
      if constant_path
        field = visit_constant_path_write_node_target(node.target)
      else
        bounds(node.name_loc)
        field = on_var_field(reference ? on_backref(name) : visit_token(name))
      end
      field = on_assign_error(message, field) if plain || !reference
      at = node.respond_to?(:binary_operator_loc) ? node.binary_operator_loc : node.operator_loc
      bounds(at)
      operator = on_op(at.slice)
      value = visit_write_value(node.value)
      bounds(node.location)
      return on_assign(field, value) if plain
      whole = on_opassign(field, operator, value)
      reference ? on_assign_error(message, whole) : whole
    end

    def __warned(warning)
      bounds(warning.location)
      return on_arg_ambiguous(AMBIGUOUS[warning.type]) if AMBIGUOUS[warning.type]
      to, format, parts = WARNINGS[warning.type]
      return send(warning.level == :default ? :warn : :warning, warning.message) unless parts && (match = parts.match(warning.message))
      send(to, format, *match.captures.map { |text| __value(text, format) })
    end

    # A number of a line, a key as it is shown, or a word.
    def __value(text, format)
      case text
      when /\A\d+\z/ then text.to_i
      when /\A:(\w+[?!]?)\z/ then $1.to_sym
      when /\A".*"\z/m then format.include?("%p") ? text.undump : text
      else text
      end
    end

    def __wrong(error)
      bounds(error.location)
      token, type = error.location.slice, error.type
      if COMPILE.include?(type)
        compile_error(type == :regexp_term ? error.message[/\A[^;]*/] : error.message[/[^;]*\z/].lstrip)
      elsif PARAMETERS.include?(type)
        on_param_error(error.message[/[^;]*\z/].lstrip, token)
      elsif type == :invalid_local_variable_write
        on_param_error(NO_VARIABLE, token)
      elsif type == :class_name || type == :module_name
        on_class_name_error("class/module name must be CONSTANT", token)
      elsif type.start_with?("alias_argument")
        on_alias_error("can't make alias for the number variables", token)
      elsif __place?(error)
        on_assign_error(error.message, token)
      else
        on_parse_error(error.message)
      end
    end
  end
  private_constant :Complaints
  prepend Complaints

  class << self
    prepend(Module.new do
      # What is not valid in its encoding is read as bytes.
      def lex(source, ...)
        return __states(super) if !source.is_a?(String) || source.valid_encoding?
        __states(super(source.b, ...)).each { |token| token[2] = token[2].dup.force_encoding(source.encoding) }
      rescue SyntaxError => e
        raise e, Complaints.in_words(e.message)
      end

      private

      # The parser leaves the state alone while it reads the body of a heredoc, and before what stands behind the last line.
      def __states(tokens)
        # What stands behind an unfinished source is told to nobody.
        tokens.pop if tokens.last && tokens.last[1] == :on_eof
        open = []
        row = nil
        tokens.each do |token|
          case token[1]
          when :on_heredoc_beg
            row == token[0][0] ? open.last << token[3] : open << [token[3]]
            row = token[0][0]
          when :on_heredoc_end
            row = nil
            token[3] = open.last.shift if open.last
            open.pop if open.last&.empty?
          end
        end
        word, ended, last = tokens[-3], tokens[-2], tokens.last
        if last && last[0][1].zero? && last[2].match?(/\A[ \t]+\z/n)
          last[1] = :on_sp
          last[3] = word[3] if word && ended[1] == :on_nl
        end
        tokens
      end
    end)
  end

  class Lexer
    def lineno = @lineno

    # What is wrong with the source, as tokens.
    def errors
      Prism.parse(@source, filepath: filename, line: lineno, version: "current").errors.map do |error|
        at = error.location
        Elem.new([at.start_line, at.start_column], :on_parse_error, at.slice, 0, Complaints.in_words(error.message))
      end
    end
  end
end
