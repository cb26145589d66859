# The tokens of a text under the names that parse.y has for them: Ripper's, told apart by the states of the lexer before and behind them.
require "ripper"
require "prism"

module RubyVM::AbstractSyntaxTree
  class Tokens
    NAMES = {
      on_CHAR: :tCHAR, on_comma: :",", on_comment: :tCOMMENT, on_const: :tCONSTANT, on_cvar: :tCVAR, on_embdoc: :tEMBDOC,
      on_embdoc_beg: :tEMBDOC_BEG, on_embdoc_end: :tEMBDOC_END, on_embexpr_beg: :tSTRING_DBEG, on_embexpr_end: :tSTRING_DEND,
      on_embvar: :tSTRING_DVAR, on_float: :tFLOAT, on_gvar: :tGVAR, on_heredoc_beg: :tHEREDOC_BEG, on_heredoc_end: :tHEREDOC_END,
      on_ignored_nl: :tIGNORED_NL, on_ignored_sp: :tSTRING_CONTENT, on_imaginary: :tIMAGINARY, on_int: :tINTEGER, on_ivar: :tIVAR,
      on_label: :tLABEL, on_label_end: :tLABEL_END, on_nl: :nl, on_period: :".", on_qsymbols_beg: :tQSYMBOLS_BEG,
      on_qwords_beg: :tQWORDS_BEG, on_rational: :tRATIONAL, on_rbrace: :'"}"', on_rbracket: :'"]"', on_regexp_beg: :tREGEXP_BEG,
      on_regexp_end: :tREGEXP_END, on_rparen: :'")"', on_semicolon: :";", on_sp: :tSP, on_symbeg: :tSYMBEG, on_symbols_beg: :tSYMBOLS_BEG,
      on_tlambda: :tLAMBDA, on_tlambeg: :tLAMBEG, on_tstring_beg: :tSTRING_BEG, on_tstring_content: :tSTRING_CONTENT,
      on_tstring_end: :tSTRING_END, on_words_beg: :tWORDS_BEG, on_words_sep: :word_sep
    }.freeze
    OPERATORS = {
      "!=" => :tNEQ, "!~" => :tNMATCH, "&&" => :tANDOP, "&." => :tANDDOT, "+@" => :tUPLUS, "-@" => :tUMINUS, "<<" => :tLSHFT, "<=" => :tLEQ,
      "<=>" => :tCMP, "==" => :tEQ, "===" => :tEQQ, "=>" => :tASSOC, "=~" => :tMATCH, ">=" => :tGEQ, ">>" => :tRSHFT, "[]" => :tAREF,
      "[]=" => :tASET, "||" => :tOROP
    }.freeze
    # At the beginning of an expression, and elsewhere.
    TWO_WAYS = {
      "&" => %i[tAMPER &], "*" => %i[tSTAR *], "**" => %i[tDSTAR tPOW], "+" => %i[tUPLUS +], "-" => %i[tUMINUS -], ".." => %i[tBDOT2 tDOT2],
      "..." => %i[tBDOT3 tDOT3], "::" => %i[tCOLON3 tCOLON2]
    }.freeze
    ASSIGNMENTS = %w[+= -= *= /= %= **= &= |= ^= <<= >>= &&= ||=].to_h { |op| [op, :tOP_ASGN] }.freeze
    MODIFIERS = %w[if unless while until rescue].freeze

    BEG = Ripper::EXPR_BEG | Ripper::EXPR_MID | Ripper::EXPR_CLASS
    ARG = Ripper::EXPR_ARG | Ripper::EXPR_CMDARG
    OPERATOR = Ripper::EXPR_FNAME | Ripper::EXPR_DOT
    LABELED = Ripper::EXPR_ARG | Ripper::EXPR_LABELED

    # What the parser tells the lexer, by place: the kinds of `do` beside those that begin the block of a call without arguments or with parentheses, and the parentheses behind
    # which a method's body begins.
    class Words < Prism::Visitor
      attr_reader :kinds

      def initialize
        @kinds = {}
      end

      def visit_def_node(node)
        note(node.rparen_loc, :body)
        super
      end

      def visit_lambda_node(node)
        note(node.opening_loc, :keyword_do_LAMBDA)
        super
      end

      %i[visit_while_node visit_until_node visit_for_node].each do |name|
        define_method(name) do |node|
          note(node.do_keyword_loc, :keyword_do_cond)
          visit_child_nodes(node)
        end
      end

      { visit_call_node: :closing_loc, visit_super_node: :rparen_loc }.each do |name, closing|
        define_method(name) do |node|
          note(node.block.opening_loc, :keyword_do_block) if node.block.is_a?(Prism::BlockNode) && node.arguments && !node.public_send(closing)
          visit_child_nodes(node)
        end
      end

      private

      def note(place, kind)
        @kinds[[place.start_line, place.start_column]] = kind if place
      end
    end

    # A heredoc's tokens, behind that of its head.
    class Body < Array
    end

    def initialize(text)
      @text = text
      @lines = text.lines
      words = Words.new
      Prism.parse(text).value.accept(words)
      @words = words.kinds
      @before = Ripper::EXPR_BEG
      @spaced = false
    end

    # Arrays of number, name, text, and [line, column, last line, column behind the last byte].
    def list
      tokens = []
      append(behind_heads, tokens)
      newlines_last(tokens).each_with_index.map { |(name, text, where), i| [i, name, text, where].freeze }.freeze
    end

    private

    # Ripper's tokens up to `__END__`; the blanks before the lines of `<<~` are part of the lines.
    def merged
      list = []
      Ripper.lex(@text).sort_by(&:first).each do |t|
        break if t[1] == :on___end__
        last = list.last
        if last && last[1] == :on_ignored_sp && t[1] == :on_tstring_content && t[0] == [last[0][0], last[0][1] + last[2].bytesize]
          list[-1] = [last[0], t[1], last[2] + t[2], t[3]]
        else
          list << t
        end
      end
      list
    end

    # As the lexer of parse.y meets them: a heredoc's body right behind its head.
    def behind_heads
      open = [[whole = Body.new, [], 0]]
      merged.each do |(line, column), event, text, state|
        _, waiting, head = open.last
        open << [waiting.shift, [], 0] if line > head && !waiting.empty?
        around = open.last
        around[0] << token(line, column, event, text, state.to_i)
        if event == :on_heredoc_beg
          around[0] << (body = Body.new)
          around[1] << body
          around[2] = line
        elsif event == :on_heredoc_end && open.size > 1
          open.pop
        end
      end
      whole
    end

    # A newline is known to end a statement once the comments behind it were passed: the line after them may begin with a dot.
    def newlines_last(tokens)
      out = []
      at = 0
      while (t = tokens[at])
        at += 1
        if t[3]
          while (comment = tokens[at, 2].index { |c| c[0] != :tSP }) && tokens[at + comment][0] == :tCOMMENT
            out.concat(tokens[at..at + comment])
            at += comment + 1
          end
        end
        out << t
      end
      out
    end

    def append(list, tokens)
      list.each { |t| Body === t ? append(t, tokens) : tokens << t }
    end

    def token(line, column, event, text, state)
      name = name_of(line, column, event, text, state)
      breaks = text.b.count("\n")
      breaks -= 1 if text.end_with?("\n")
      # Not where a line can't end yet.
      late = event == :on_nl || event == :on_ignored_nl && column > 0 && !begins? && @before & OPERATOR == 0
      last = breaks > 0 ? text.lines.last.bytesize : column + text.bytesize
      case event
      when :on_comment
        @spaced = true
        # The line's end is part of it.
        @before = Ripper::EXPR_BEG
      when :on_sp, :on_ignored_nl, :on_embdoc, :on_embdoc_beg, :on_embdoc_end then @spaced = true
      else
        @spaced = event == :on_nl
        @before = event == :on_rparen && @words[[line, column]] ? Ripper::EXPR_BEG : state
      end
      [name, text, [line, column, line + [breaks, 0].max, last].freeze, late]
    end

    def name_of(line, column, event, text, state)
      case event
      when :on_ident then text.end_with?("?", "!") ? :tFID : :tIDENTIFIER
      when :on_backref then text.match?(/\A\$\d/) ? :tNTH_REF : :tBACK_REF
      when :on_backtick then @before & OPERATOR != 0 && text == "`" ? :"`" : :tXSTRING_BEG
      when :on_kw then keyword([line, column], text, state)
      when :on_op then operator(text, line, column)
      when :on_lbrace
        if state & Ripper::EXPR_LABEL != 0 then :tLBRACE
        else @before & Ripper::EXPR_ENDARG != 0 ? :tLBRACE_ARG : :'"{"'
        end
      when :on_lbracket then begins? || argument? && (@spaced || @before & Ripper::EXPR_LABELED != 0) ? :tLBRACK : :'"["'
      when :on_lparen
        if begins? then :tLPAREN
        else @spaced && argument? ? :tLPAREN_ARG : :'"("'
        end
      else NAMES.fetch(event)
      end
    end

    def keyword(place, text, state)
      case text
      when "do" then @words[place] || :keyword_do
      when "defined?" then :keyword_defined
      when "BEGIN", "END" then :"keyword_l#{text}"
      when *MODIFIERS then state & Ripper::EXPR_LABEL != 0 ? :"modifier_#{text}" : :"keyword_#{text}"
      else :"keyword_#{text.delete_prefix("_")}"
      end
    end

    def operator(text, line, column)
      both = TWO_WAYS[text] or return ASSIGNMENTS[text] || OPERATORS[text] || text.to_sym
      return both[1] if @before & OPERATOR != 0
      following = @lines[line - 1].byteslice(column + text.bytesize, 1).b
      starts = begins? || !text.start_with?("..") && argument? && @spaced && !following.match?(/\A\s?\z/)
      return :tUMINUS_NUM if starts && text == "-" && following.match?(/\d/)
      both[starts ? 0 : 1]
    end

    def begins? = @before & BEG != 0 || @before & LABELED == LABELED
    def argument? = @before & ARG != 0
  end
end
