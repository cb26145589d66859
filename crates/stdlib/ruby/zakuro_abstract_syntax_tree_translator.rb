# Prism's nodes as parse.y's (RubyVM::AbstractSyntaxTree).
require "prism"

module RubyVM::AbstractSyntaxTree
  class Translator
    def initialize(text, keep)
      @result = Prism.parse(text, encoding: text.encoding)
      @mark = text.byteslice(0, 3).b == BOM ? BOM.bytesize : 0
      close(text) unless @result.success?
      lines = text.lines
      if (ended = lines.index { |line| line.chomp == "__END__" }) && @result.data_loc
        lines = lines[..ended]
      end
      @lines = keep ? lines.freeze : nil
      @id = 0
      # Locals of blocks are told from those of methods.
      @dynamic = false
    end

    def program
      node = @result.value
      body = node.statements.body.empty? ? make(:BEGIN, node.location, [nil]) : statements(node.statements)
      make(:SCOPE, node.statements.body.empty? ? node.location : node.statements.location, [node.locals, nil, body])
    end

    private

    BOM = "\xEF\xBB\xBF".b
    private_constant :BOM

    # A program that is over too early is read as if what is open had ended behind its last word.
    def close(text)
      over, open = @result.errors.partition { |error| error.type == :unexpected_token_close_context }
      return unless over.size == 1 && !open.empty? && open.all? { |error| error.message.end_with?("`end`") || error.message.start_with?("expected an `end` ") }
      last = over[0].location.start_offset
      closed = Prism.parse(text.byteslice(0, last) + "\nend" * open.size, encoding: text.encoding)
      return unless closed.success?
      @over = [over[0].location.start_line, over[0].location.start_column]
      @result = closed
    end

    # `more`: places of keywords and the like, nil where there is none.
    def make(type, location, children, *more)
      @id += 1
      Node.__send__(:__make, type, children, @id - 1, [place(location), *more.map { |one| one && place(one) }].freeze, @lines)
    end

    def place(location)
      location = span(location, location) unless location.is_a?(Array)
      first, last = location[0, 2], location[2, 2]
      first, last = [[first, @over].min, [last, @over].min] if @over
      # Columns of the first line count from behind a byte order mark.
      first, last = [first, last].map { |line, column| [line, line == 1 ? [column - @mark, 0].max : column] } if @mark > 0
      Location.new(*first, *last)
    end

    def span(first, last)
      [first.start_line, first.start_column, last.end_line, last.end_column]
    end

    def visit(node) = node && __send__(:"visit_#{node.type}", node)

    def statements(node)
      return unless node
      list = node.is_a?(Prism::StatementsNode) ? node.body : [node]
      return if list.empty?
      list.size == 1 ? visit(list[0]) : make(:BLOCK, node.location, list.map { |one| visit(one) })
    end
    def visit_statements_node(node) = statements(node)

    # Elements, and the nil that ends them.
    def list(nodes, location = nil)
      nodes = nodes.compact
      return if nodes.empty?
      make(:LIST, location || span(nodes.first.location, nodes.last.location), nodes.map { |one| visit(one) } << nil)
    end

    # Elements with splats between them, as nested concatenations.
    def elements(nodes)
      return if nodes.empty?
      plain = nodes.take_while { |one| !one.is_a?(Prism::SplatNode) }
      result, rest = list(plain), nodes.drop(plain.size)
      until rest.empty?
        star = rest.shift
        inner = star.expression ? visit(star.expression) : make(:LVAR, star.location, [:*])
        plain = rest.take_while { |one| !one.is_a?(Prism::SplatNode) }
        rest = rest.drop(plain.size)
        at = result ? [result.first_lineno, result.first_column, star.location.end_line, star.location.end_column] : star.location
        result = result ? make(:ARGSCAT, at, [result, inner]) : make(:SPLAT, star.location, [inner], star.operator_loc)
        next if plain.empty?
        at = [result.first_lineno, result.first_column, plain.last.location.end_line, plain.last.location.end_column]
        result = plain.size == 1 ? make(:ARGSPUSH, at, [result, visit(plain[0])]) : make(:ARGSCAT, at, [result, list(plain)])
      end
      result
    end

    def arguments(node, block = nil)
      nodes = node ? node.arguments : []
      result = elements(nodes.reject { |one| one.is_a?(Prism::ForwardingArgumentsNode) })
      return forwarded(result, nodes.last.location) if nodes.last.is_a?(Prism::ForwardingArgumentsNode)
      return result unless block.is_a?(Prism::BlockArgumentNode)
      at = result ? [result.first_lineno, result.first_column, block.location.end_line, block.location.end_column] : block.location
      make(:BLOCK_PASS, at, [result, block.expression ? visit(block.expression) : make(:LVAR, block.location, [:&], block.location)], block.operator_loc)
    end

    # What stands behind `...`.
    def forwarded(before, at)
      rest = make(:LVAR, at, [:*])
      all = before ? make(:ARGSCAT, [before.first_lineno, before.first_column, at.end_line, at.end_column], [before, rest]) : make(:SPLAT, at, [rest])
      all = make(:ARGSPUSH, all_span(all), [all, make(:HASH, at, [make(:LIST, at, [nil, make(:LVAR, at, [:**]), nil])])])
      make(:BLOCK_PASS, all_span(all), [all, make(:LVAR, at, [:&])])
    end
    def all_span(node) = [node.first_lineno, node.first_column, node.last_lineno, node.last_column]

    def scope(locals, parameters, body, location)
      make(:SCOPE, location, [locals, parameters, body])
    end

    def within(dynamic)
      before, @dynamic = @dynamic, dynamic
      yield
    ensure
      @dynamic = before
    end

    # ---- literals
    { self: :SELF, nil: :NIL, true: :TRUE, false: :FALSE }.each { |name, type| define_method(:"visit_#{name}_node") { |node| make(type, node.location, []) } }
    def visit_integer_node(node) = make(:INTEGER, node.location, [node.value])
    def visit_float_node(node) = make(:FLOAT, node.location, [node.value])
    def visit_rational_node(node) = make(:RATIONAL, node.location, [node.value])
    def visit_imaginary_node(node) = make(:IMAGINARY, node.location, [node.value])
    def visit_symbol_node(node) = make(:SYM, node.location, [(node.forced_utf8_encoding? ? node.unescaped.dup.force_encoding("UTF-8") : node.unescaped).to_sym])
    def visit_string_node(node) = make(:STR, node.opening_loc&.slice&.start_with?("<<") ? node.opening_loc : node.location, [node.unescaped])
    def visit_x_string_node(node) = make(:XSTR, node.location, [node.unescaped])
    def visit_source_line_node(node) = make(:LINE, node.location, [node.location.start_line])
    def visit_source_file_node(node) = make(:FILE, node.location, [node.filepath])
    def visit_source_encoding_node(node) = make(:ENCODING, node.location, [@result.source.source.encoding])

    def visit_regular_expression_node(node)
      pattern = Regexp.new(node.unescaped, node.options & 7)
      make(:REGX, node.location, [pattern], node.opening_loc, node.content_loc, node.closing_loc)
    end
    def visit_match_last_line_node(node) = make(:MATCH, node.location, [Regexp.new(node.unescaped, node.options & 7)])

    def interpolated(type, node, parts)
      head = parts.first.is_a?(Prism::StringNode) ? parts.first.unescaped : nil
      rest = (head ? parts.drop(1) : parts).map { |one| part(one) }
      tail = rest.drop(1)
      tail = tail.empty? ? nil : make(:LIST, node.location, tail << nil)
      at = node.respond_to?(:opening_loc) && node.opening_loc&.slice&.start_with?("<<") ? node.opening_loc : node.location
      make(type, at, [head, rest.first, tail])
    end

    def part(node)
      case node
      when Prism::EmbeddedStatementsNode then make(:EVSTR, [@at.start_line, @at.start_column, @at.end_line, @at.end_column], [statements(node.statements)], node.opening_loc, node.closing_loc)
      when Prism::EmbeddedVariableNode then make(:EVSTR, [@at.start_line, @at.start_column, @at.end_line, @at.end_column], [visit(node.variable)], node.operator_loc, nil)
      else visit(node)
      end
    end

    { interpolated_string: :DSTR, interpolated_x_string: :DXSTR, interpolated_symbol: :DSYM, interpolated_regular_expression: :DREGX, interpolated_match_last_line: :MATCH }.each do |name, type|
      define_method(:"visit_#{name}_node") do |node|
        before, @at = @at, node.location
        # Literals beside each other are one.
        if node.parts.all?(Prism::StringNode)
          text = node.parts.map(&:unescaped).join
          next make(:STR, node.opening_loc&.slice&.start_with?("<<") ? node.opening_loc : node.location, [text]) if type == :DSTR
        end
        result = interpolated(type, node, node.parts)
        node.respond_to?(:once?) && node.once? ? make(:ONCE, node.location, [result]) : result
      ensure
        @at = before
      end
    end

    def visit_array_node(node) = node.elements.empty? ? make(:ZLIST, node.location, []) : elements(node.elements).then { |one| one.type == :LIST ? make(:LIST, node.location, one.children) : one }
    def visit_hash_node(node) = make(:HASH, node.location, [pairs(node)])
    def visit_keyword_hash_node(node) = visit_hash_node(node)
    def pairs(node)
      return if node.elements.empty?
      all = node.elements.flat_map { |one| one.is_a?(Prism::AssocSplatNode) ? [nil, one.value ? visit(one.value) : make(:LVAR, one.location, [:**])] : [visit(one.key), visit(one.value)] }
      make(:LIST, node.location, all << nil)
    end
    def visit_assoc_splat_node(node) = visit(node.value)
    def visit_implicit_node(node) = visit(node.value)

    def visit_range_node(node) = make(node.exclude_end? ? :DOT3 : :DOT2, node.location, [visit(node.left) || nothing(node), visit(node.right) || nothing(node)], node.operator_loc)
    def visit_flip_flop_node(node) = make(node.exclude_end? ? :FLIP3 : :FLIP2, node.location, [visit(node.left) || nothing(node), visit(node.right) || nothing(node)], node.operator_loc)
    def nothing(node) = make(:NIL, node.location, [])

    # ---- variables
    def visit_local_variable_read_node(node) = make(@dynamic ? :DVAR : :LVAR, node.location, [node.name])
    def visit_it_local_variable_read_node(node) = make(:DVAR, node.location, [:it])
    { instance_variable: %i[IVAR IASGN], class_variable: %i[CVAR CVASGN], global_variable: %i[GVAR GASGN], constant: %i[CONST CDECL] }.each do |name, (read, write)|
      define_method(:"visit_#{name}_read_node") { |node| make(read, node.location, [node.name]) }
      define_method(:"visit_#{name}_write_node") { |node| make(write, node.location, [node.name, visit(node.value)]) }
      define_method(:"visit_#{name}_target_node") { |node| make(write, node.location, [node.name, nil]) }
    end
    def visit_local_variable_write_node(node) = make(@dynamic ? :DASGN : :LASGN, node.location, [node.name, visit(node.value)])
    def visit_local_variable_target_node(node) = make(@dynamic ? :DASGN : :LASGN, node.location, [node.name, nil])
    def visit_back_reference_read_node(node) = make(:BACK_REF, node.location, [node.name])
    def visit_numbered_reference_read_node(node) = make(:NTH_REF, node.location, [:"$#{node.number}"])

    def visit_constant_path_node(node)
      return make(:COLON3, node.location, [node.name], node.delimiter_loc, node.name_loc) unless node.parent
      make(:COLON2, node.location, [visit(node.parent), node.name], node.delimiter_loc, node.name_loc)
    end
    def visit_constant_path_target_node(node) = make(:CDECL, node.location, [visit_constant_path_node(node), node.name, nil])
    def visit_constant_path_write_node(node) = make(:CDECL, node.location, [visit(node.target), node.target.name, visit(node.value)])

    { instance_variable: %i[IVAR IASGN], class_variable: %i[CVAR CVASGN], global_variable: %i[GVAR GASGN], constant: %i[CONST CDECL], local_variable: nil }.each do |name, types|
      kinds = -> { types || (@dynamic ? %i[DVAR DASGN] : %i[LVAR LASGN]) }
      { or: :OP_ASGN_OR, and: :OP_ASGN_AND }.each do |word, type|
        define_method(:"visit_#{name}_#{word}_write_node") do |node|
          read, write = instance_exec(&kinds)
          make(type, node.location, [make(read, node.name_loc, [node.name]), word == :or ? :"||" : :"&&", make(write, node.location, [node.name, visit(node.value)])])
        end
      end
      define_method(:"visit_#{name}_operator_write_node") do |node|
        read, write = instance_exec(&kinds)
        value = make(:CALL, node.location, [make(read, node.name_loc, [node.name]), node.binary_operator, list([node.value])])
        make(write, node.location, [node.name, value])
      end
    end
    def visit_constant_path_or_write_node(node) = make(:OP_CDECL, node.location, [visit(node.target), :"||", visit(node.value)])
    def visit_constant_path_and_write_node(node) = make(:OP_CDECL, node.location, [visit(node.target), :"&&", visit(node.value)])
    def visit_constant_path_operator_write_node(node) = make(:OP_CDECL, node.location, [visit(node.target), node.binary_operator, visit(node.value)])

    { or: :"||", and: :"&&", operator: nil }.each do |word, operator|
      define_method(:"visit_index_#{word}_write_node") do |node|
        make(:OP_ASGN1, node.location, [visit(node.receiver), operator || node.binary_operator, arguments(node.arguments), visit(node.value)], nil, node.opening_loc, node.closing_loc, word == :operator ? node.binary_operator_loc : node.operator_loc)
      end
      define_method(:"visit_call_#{word}_write_node") do |node|
        make(:OP_ASGN2, node.location, [visit(node.receiver), node.safe_navigation?, node.read_name, operator || node.binary_operator, visit(node.value)], node.call_operator_loc, node.message_loc,
             word == :operator ? node.binary_operator_loc : node.operator_loc)
      end
    end
    def visit_index_target_node(node) = make(:ATTRASGN, node.location, [visit(node.receiver), :[]=, arguments(node.arguments)])
    def visit_call_target_node(node) = make(:ATTRASGN, node.location, [visit(node.receiver), node.name, nil])

    def visit_multi_write_node(node) = make(:MASGN, node.location, [visit(node.value), *targets(node)])
    def visit_multi_target_node(node) = make(:MASGN, node.location, [nil, *targets(node)])
    def targets(node)
      lefts = node.lefts.empty? ? nil : make(:LIST, span(node.lefts.first.location, node.lefts.last.location), node.lefts.map { |one| visit(one) } << nil)
      rest =
        case node.rest
        when nil, Prism::ImplicitRestNode then nil
        else node.rest.expression ? visit(node.rest.expression) : :NODE_SPECIAL_NO_NAME_REST
        end
      return [lefts, rest] if node.rights.empty?
      rights = make(:LIST, span(node.rights.first.location, node.rights.last.location), node.rights.map { |one| visit(one) } << nil)
      [lefts, make(:POSTARG, node.location, [rest, rights])]
    end
    def visit_splat_node(node) = make(:SPLAT, node.location, [visit(node.expression)], node.operator_loc)

    # ---- calls
    def visit_call_node(node)
      block = node.block
      at = block.is_a?(Prism::BlockNode) ? span(node.location, node.closing_loc || node.arguments&.location || node.message_loc || node.location) : node.location
      call = call_of(node, at)
      return call unless block.is_a?(Prism::BlockNode)
      make(:ITER, node.location, [call, block_scope(block)])
    end

    OPERATORS = %i[+ - * / % ** == != < > <= >= <=> === =~ !~ << >> & | ^ ! ~ +@ -@].freeze
    private_constant :OPERATORS

    def call_of(node, at)
      given = arguments(node.arguments, node.block)
      if node.attribute_write?
        return make(:ATTRASGN, at, [visit(node.receiver), node.name, given])
      elsif node.receiver.nil?
        return make(:VCALL, at, [node.name]) if node.variable_call?
        return make(:FCALL, at, [node.name, given])
      end
      receiver = visit(node.receiver)
      if node.name == :=~ && node.call_operator_loc.nil?
        return make(:MATCH2, at, [receiver, visit(node.arguments.arguments[0])]) if node.receiver.is_a?(Prism::RegularExpressionNode)
        return make(:MATCH3, at, [visit(node.arguments.arguments[0]), receiver]) if node.arguments&.arguments&.first.is_a?(Prism::RegularExpressionNode)
      end
      type = node.safe_navigation? ? :QCALL : node.call_operator_loc.nil? && OPERATORS.include?(node.name) ? :OPCALL : :CALL
      make(type, at, [receiver, node.name, given])
    end
    def visit_match_write_node(node) = visit(node.call)
    def visit_parentheses_node(node)
      return make(:NIL, node.location, []) if node.body.nil?
      result = statements(node.body)
      result.type == :BLOCK ? result : make_at(result, node.location)
    end
    # parse.y widens nothing for parentheses.
    def make_at(node, _location) = node

    def block_scope(node)
      within(true) { scope(node.locals, block_arguments(node.parameters), statements_or_begin(node), node.location) }
    end
    def statements_or_begin(node) = node.body && statements(node.body)

    def block_arguments(parameters)
      case parameters
      when nil then nil
      when Prism::NumberedParametersNode then make(:ARGS, parameters.location, [parameters.maximum, nil, nil, nil, 0, nil, nil, nil, nil, nil])
      when Prism::ItParametersNode then make(:ARGS, parameters.location, [1, nil, nil, nil, 0, nil, nil, nil, nil, nil])
      else parameters.parameters ? args(parameters.parameters, parameters.location) : make(:ARGS, parameters.location, [0, nil, nil, nil, 0, nil, nil, nil, nil, nil])
      end
    end

    def visit_lambda_node(node)
      after = node.operator_loc.then { |one| [one.end_line, one.end_column, one.end_line, one.end_column] }
      at = [node.operator_loc.end_line, node.operator_loc.end_column, node.location.end_line, node.location.end_column]
      body = within(true) { scope(node.locals, block_arguments(node.parameters) || no_args(after), statements_or_begin(node), at) }
      make(:LAMBDA, node.location, [body], node.operator_loc, node.opening_loc, node.closing_loc)
    end

    def visit_super_node(node)
      call = make(:SUPER, node.location, [arguments(node.arguments, node.block)], node.keyword_loc, node.lparen_loc, node.rparen_loc)
      node.block.is_a?(Prism::BlockNode) ? make(:ITER, node.location, [call, block_scope(node.block)]) : call
    end
    def visit_forwarding_super_node(node)
      call = make(:ZSUPER, node.location, [])
      node.block ? make(:ITER, node.location, [call, block_scope(node.block)]) : call
    end
    def visit_yield_node(node) = make(:YIELD, node.location, [arguments(node.arguments)], node.keyword_loc, node.lparen_loc, node.rparen_loc)

    # ---- definitions
    def no_args(location) = make(:ARGS, location, [0, nil, nil, nil, 0, nil, nil, nil, nil, nil])

    def args(node, location = node.location)
      pre = node.requireds.grep(Prism::MultiTargetNode)
      post = node.posts.grep(Prism::MultiTargetNode)
      init = ->(all) { all.empty? ? nil : all.size == 1 ? visit(all[0]) : make(:BLOCK, node.location, all.map { |one| visit(one) }) }
      optional = node.optionals.reverse.inject(nil) { |rest, one| make(:OPT_ARG, span(one.location, node.optionals.last.location), [make(@dynamic ? :DASGN : :LASGN, one.location, [one.name, visit(one.value)]), rest]) }
      keywords = node.keywords.reverse.inject(nil) do |rest, one|
        value = one.respond_to?(:value) ? visit(one.value) : :NODE_SPECIAL_REQUIRED_KEYWORD
        make(:KW_ARG, span(one.location, node.keywords.last.location), [make(@dynamic ? :DASGN : :LASGN, one.location, [one.name, value]), rest])
      end
      forwarding = node.keyword_rest.is_a?(Prism::ForwardingParameterNode)
      rest =
        case node.rest
        when nil then forwarding ? :* : nil
        when Prism::ImplicitRestNode then :NODE_SPECIAL_EXCESSIVE_COMMA
        else node.rest.name || (@dynamic ? nil : :*)
        end
      keyword_rest =
        case node.keyword_rest
        when nil then nil
        when Prism::NoKeywordsParameterNode then false
        else make(@dynamic ? :DVAR : :LVAR, node.keyword_rest.location, [forwarding ? :** : node.keyword_rest.name || :**])
        end
      block =
        case node.block
        when nil then forwarding ? :& : nil
        else node.block.respond_to?(:name) ? node.block.name || :& : false
        end
      first_post = node.posts.first
      make(:ARGS, location, [node.requireds.size, init.(pre), optional, first_post.respond_to?(:name) ? first_post.name : nil, node.posts.size, init.(post), rest, keywords, keyword_rest, block])
    end

    def visit_def_node(node)
      after = [node.name_loc.end_line, node.name_loc.end_column] * 2
      receiver = visit(node.receiver)
      body = within(false) { scope(node.locals, node.parameters ? args(node.parameters) : no_args(after), statements_or_begin(node), node.location) }
      receiver ? make(:DEFS, node.location, [receiver, node.name, body]) : make(:DEFN, node.location, [node.name, body])
    end

    def path(node)
      return visit(node) if node.is_a?(Prism::ConstantPathNode)
      make(:COLON2, node.location, [nil, node.name], nil, node.location)
    end

    def body_scope(node, from)
      at = [from.end_line, from.end_column] * 2
      within(false) { scope(node.locals, nil, statements_or_begin(node) || make(:BEGIN, at, [nil]), node.location) }
    end

    def visit_class_node(node)
      make(:CLASS, node.location, [path(node.constant_path), visit(node.superclass), body_scope(node, node.superclass&.location || node.constant_path.location)], node.class_keyword_loc, node.inheritance_operator_loc, node.end_keyword_loc)
    end
    def visit_module_node(node) = make(:MODULE, node.location, [path(node.constant_path), body_scope(node, node.constant_path.location)], node.module_keyword_loc, node.end_keyword_loc)
    def visit_singleton_class_node(node) = make(:SCLASS, node.location, [visit(node.expression), body_scope(node, node.expression.location)], node.class_keyword_loc, node.operator_loc, node.end_keyword_loc)

    def visit_alias_method_node(node) = make(:ALIAS, node.location, [visit(node.new_name), visit(node.old_name)], node.keyword_loc)
    def visit_alias_global_variable_node(node) = make(:VALIAS, node.location, [node.new_name.name, node.old_name.name], node.keyword_loc)
    def visit_undef_node(node) = make(:UNDEF, node.location, [node.names.map { |one| visit(one) }], node.keyword_loc)
    def visit_defined_node(node) = make(:DEFINED, node.location, [visit(node.value)], node.keyword_loc)
    def visit_post_execution_node(node) = make(:POSTEXE, node.location, [scope([], nil, statements(node.statements), node.location)], node.keyword_loc, node.opening_loc, node.closing_loc)
    def visit_pre_execution_node(node) = statements(node.statements) || make(:BEGIN, node.location, [nil])

    # ---- control
    def chained(type, kind, node)
      rights, at = [], node
      while at.is_a?(kind)
        rights << at.right
        at = at.left
      end
      make(type, node.location, [visit(at), *rights.reverse.map { |one| visit(one) }], node.operator_loc)
    end
    def visit_and_node(node) = chained(:AND, Prism::AndNode, node)
    def visit_or_node(node) = chained(:OR, Prism::OrNode, node)

    def otherwise(node)
      case node
      when nil then nil
      when Prism::ElseNode
        at = node.else_keyword_loc
        statements(node.statements) || make(:BEGIN, [at.end_line, at.end_column] * 2, [nil])
      else visit(node)
      end
    end

    def visit_if_node(node)
      then_at = node.if_keyword_loc.nil? ? node.subsequent.else_keyword_loc : node.then_keyword_loc || separator(node.predicate, node)
      at = node.if_keyword_loc&.slice == "elsif" ? until_branch(node.location, node) : node.location
      make(:IF, at, [visit(node.predicate), statements(node.statements), otherwise(node.subsequent)], node.if_keyword_loc, then_at, final_end(node))
    end
    def visit_unless_node(node)
      make(:UNLESS, node.location, [visit(node.predicate), statements(node.statements), otherwise(node.else_clause)], node.keyword_loc, node.then_keyword_loc || separator(node.predicate, node), node.end_keyword_loc)
    end
    def final_end(node)
      node = node.subsequent while node.is_a?(Prism::IfNode) && node.end_keyword_loc.nil? && node.subsequent
      node&.end_keyword_loc
    end

    # Where an `else`, or the last branch, ends without the `end` behind it; a `;` belongs to it.
    def branch_end(node)
      at =
        case node
        when Prism::ElseNode then (node.statements || node.else_keyword_loc).then { |one| one.respond_to?(:location) ? one.location : one }
        when Prism::WhenNode, Prism::InNode then node.location
        when Prism::IfNode then return branch_end(node.subsequent) if node.subsequent
                                (node.statements || node.predicate).location
        end
      semicolon = !node.is_a?(Prism::IfNode) && @result.source.source.byteslice(at.end_offset, 1) == ";" && node.is_a?(Prism::ElseNode) == false
      [at.end_line, at.end_column + (semicolon ? 1 : 0)]
    end
    def until_branch(first, last) = [first.start_line, first.start_column, *branch_end(last)]

    # A `;` or the end of the line behind a condition, where `then` would be.
    def separator(condition, node)
      return if node.end_keyword_loc.nil? && !(node.is_a?(Prism::IfNode) && node.if_keyword_loc&.slice == "elsif")
      at = condition.location
      text = @result.source.source.byteslice(at.end_offset, 1)
      text == ";" ? [at.end_line, at.end_column, at.end_line, at.end_column + 1] : nil
    end

    { while: :WHILE, until: :UNTIL }.each do |name, type|
      define_method(:"visit_#{name}_node") do |node|
        body = node.begin_modifier? ? visit_begin_node(node.statements.body[0]) : statements(node.statements)
        make(type, node.location, [visit(node.predicate), body, !node.begin_modifier?], node.keyword_loc, node.closing_loc)
      end
    end

    def visit_for_node(node)
      target = node.index.is_a?(Prism::MultiTargetNode) ? make(:FOR_MASGN, node.index.location, [nil]) : nil
      init = target ? visit(node.index) : visit(node.index).then { |one| make(one.type, node.index.location, [*one.children[..-2], make(:DVAR, node.index.location, [nil])]) }
      parameters = make(:ARGS, node.index.location, [1, init, nil, nil, 0, nil, nil, nil, nil, nil])
      body = scope([nil], parameters, statements(node.statements), node.location)
      make(:FOR, node.location, [visit(node.collection), body], node.for_keyword_loc, node.in_keyword_loc, node.do_keyword_loc, node.end_keyword_loc)
    end

    def visit_case_node(node)
      tail = otherwise(node.else_clause)
      node.conditions.reverse_each do |one|
        tail = make(:WHEN, until_branch(one.location, node.else_clause || node.conditions.last), [elements(one.conditions), statements(one.statements) || make(:BEGIN, [one.location.end_line, one.location.end_column] * 2, [nil]), tail], one.keyword_loc, one.then_keyword_loc || semicolon(one.conditions.last))
      end
      make(node.predicate ? :CASE : :CASE2, node.location, [visit(node.predicate), tail], node.case_keyword_loc, node.end_keyword_loc)
    end
    def semicolon(node)
      at = node.location
      @result.source.source.byteslice(at.end_offset, 1) == ";" ? [at.end_line, at.end_column, at.end_line, at.end_column + 1] : nil
    end

    def one_value(type, node, keyword = node.keyword_loc)
      nodes = node.arguments ? node.arguments.arguments : []
      value = nodes.size == 1 && !nodes[0].is_a?(Prism::SplatNode) ? visit(nodes[0]) : elements(nodes)
      make(type, node.location, [value], keyword)
    end
    def visit_return_node(node) = one_value(:RETURN, node)
    def visit_break_node(node) = one_value(:BREAK, node)
    def visit_next_node(node) = one_value(:NEXT, node)
    def visit_redo_node(node) = make(:REDO, node.location, [], node.location)
    def visit_retry_node(node) = make(:RETRY, node.location, [])

    def visit_begin_node(node)
      body = statements(node.statements)
      if node.rescue_clause
        body = make(:RESCUE, node.statements ? span(node.statements.location, (node.else_clause || node.rescue_clause).location) : node.rescue_clause.location, [body || make(:BEGIN, node.location, [nil]), rescues(node.rescue_clause), otherwise(node.else_clause)])
      elsif node.else_clause
        body = make(:BLOCK, node.location, [body, otherwise(node.else_clause)].compact)
      end
      body = make(:ENSURE, node.location, [body, statements(node.ensure_clause.statements)]) if node.ensure_clause
      return body || make(:NIL, node.location, []) if node.begin_keyword_loc.nil? || node.rescue_clause || node.ensure_clause
      body || make(:NIL, node.location, [])
    end

    def rescues(node)
      return unless node
      body = statements(node.statements)
      reference = visit(node.reference)
      if reference
        value = make(:ERRINFO, node.reference.location, [])
        reference = make(reference.type, node.reference.location, reference.type == :ATTRASGN ? [*reference.children[..-2], value] : [*reference.children[..-2], value])
      end
      body ||= make(:BEGIN, [node.location.end_line, node.location.end_column] * 2, [nil])
      make(:RESBODY, node.location, [elements(node.exceptions), reference, body, rescues(node.subsequent)])
    end
    def visit_rescue_modifier_node(node)
      handler = make(:RESBODY, span(node.keyword_loc, node.rescue_expression.location), [nil, nil, visit(node.rescue_expression), nil])
      make(:RESCUE, node.location, [visit(node.expression), handler, nil])
    end

    # ---- patterns
    def visit_case_match_node(node)
      tail = otherwise(node.else_clause)
      node.conditions.reverse_each do |one|
        tail = make(:IN, until_branch(one.location, node.else_clause || node.conditions.last), [visit(one.pattern), statements(one.statements) || make(:BEGIN, [one.location.end_line, one.location.end_column] * 2, [nil]), tail], one.in_loc, one.then_loc || semicolon(one.pattern), nil)
      end
      make(:CASE3, node.location, [visit(node.predicate), tail], node.case_keyword_loc, node.end_keyword_loc)
    end
    def visit_match_required_node(node)
      make(:CASE3, node.location, [visit(node.value), make(:IN, node.pattern.location, [visit(node.pattern), nil, nil], nil, nil, node.operator_loc)], nil, nil)
    end
    def visit_match_predicate_node(node)
      answers = [make(:TRUE, node.pattern.location, []), make(:FALSE, node.pattern.location, [])]
      make(:CASE3, node.location, [visit(node.value), make(:IN, node.pattern.location, [visit(node.pattern), *answers], node.operator_loc, nil, nil)], nil, nil)
    end
    def rest_of(node)
      return if node.nil? || node.is_a?(Prism::ImplicitRestNode)
      node.expression ? visit(node.expression) : :NODE_SPECIAL_NO_NAME_REST
    end
    def visit_array_pattern_node(node) = make(:ARYPTN, node.location, [visit(node.constant), list(node.requireds), rest_of(node.rest), list(node.posts)])
    def visit_find_pattern_node(node) = make(:FNDPTN, node.location, [visit(node.constant), rest_of(node.left), list(node.requireds), rest_of(node.right)])
    def visit_hash_pattern_node(node)
      parts = [*node.elements, *node.rest]
      at = parts.empty? ? node.location : span(parts.first.location, parts.last.location)
      rest =
        case node.rest
        when nil then nil
        when Prism::NoKeywordsParameterNode then :NODE_SPECIAL_NO_REST_KEYWORD
        else node.rest.value && target(node.rest.value, at)
        end
      unless parts.empty?
        pairs = node.elements.flat_map { |one| [visit(one.key), one.value.is_a?(Prism::ImplicitNode) ? target(one.value.value, one.key.location) : visit(one.value)] }
        all = make(:LIST, span(node.elements.first.location, node.elements.last.location), pairs << nil) unless pairs.empty?
        keys = make(:HASH, at, [all])
      end
      whole = node.constant && !parts.empty? ? [*span(node.constant.location, node.constant.location)[0, 2], *at[2, 2]] : at
      make(:HSHPTN, whole, [visit(node.constant), keys, rest])
    end

    # A variable of a pattern stands where what makes it does.
    def target(node, location) = make(@dynamic ? :DASGN : :LASGN, location, [node.name, nil])

    def visit_alternation_pattern_node(node) = make(:OR, node.location, [visit(node.left), visit(node.right)], node.operator_loc)
    def visit_capture_pattern_node(node) = make(:HASH, node.location, [make(:LIST, node.location, [visit(node.value), visit(node.target), nil])])
    def visit_pinned_variable_node(node) = visit(node.variable)
    def visit_pinned_expression_node(node) = make(:BEGIN, node.location, [visit(node.expression)])

    def visit_shareable_constant_node(node) = visit(node.write)
    def visit_required_parameter_node(node) = make(@dynamic ? :DASGN : :LASGN, node.location, [node.name, nil])
    def visit_missing_node(node) = make(:ERROR, node.location, [])
    alias visit_error_recovery_node visit_missing_node
    def visit_program_node(node) = statements(node.statements)
    def visit_embedded_statements_node(node) = make(:EVSTR, node.location, [statements(node.statements)], node.opening_loc, node.closing_loc)
    def visit_embedded_variable_node(node) = make(:EVSTR, node.location, [visit(node.variable)], node.operator_loc, nil)
    def visit_else_node(node) = otherwise(node)
    def visit_block_argument_node(node) = visit(node.expression)
    def visit_implicit_rest_node(_node) = nil
    def visit_assoc_node(node) = make(:LIST, node.location, [visit(node.key), visit(node.value), nil])
  end
  private_constant :Translator
end
