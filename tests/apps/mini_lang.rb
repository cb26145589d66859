# A small language: tokens, a Pratt parser to Struct nodes, a constant folder, an evaluator with closures, modules, errors with positions and a
# pattern-matching printer. State: interned names in a global, parsed programs in a constant, operators registered by a DSL into class-level ivars,
# a class variable that counts scopes, method-defined builtins.

$interned = {}

module Pip
  PROGRAMS = {}
  TRACE = []

  class PipError < StandardError
    attr_reader :line

    def initialize(message, line)
      @line = line
      super("line #{line}: #{message}")
    end
  end

  class LexError < PipError; end
  class ParseError < PipError; end
  class RunError < PipError; end

  def self.intern(name) = $interned[name] ||= [$interned.size, name.dup.freeze].freeze

  Token = Struct.new(:type, :text, :line) do
    def is?(text) = %i[op word].include?(type) && self.text == text
    def to_s = type == :end ? "the end" : text.inspect
  end

  class Lexer
    KEYWORDS = %w[let fn if then else end while do true false nil and or not return try rescue throw for in match when].freeze
    PATTERNS = {
      space: /[ \t\r]+|#[^\n]*/, line: /\n/, number: /\d+(?:\.\d+)?(?:e[+-]?\d+)?/, string: /"(?:[^"\\\n]|\\.)*"/,
      word: /[a-z_]\w*[?!]?/i, op: /\*\*|==|!=|<=|>=|->|\|>|\.\.|[-+*\/%<>=(){}\[\],.:|]/
    }.freeze
    ALL = Regexp.union(PATTERNS.map { |name, re| /(?<#{name}>#{re})/ })

    def initialize(text)
      @text = text
    end

    def tokens
      out = []
      line = 1
      at = 0
      while at < @text.length
        m = /\G#{ALL}/o.match(@text, at) or raise LexError.new("stray #{@text[at].inspect}", line)
        at = m.end(0)
        if m[:line]
          line += 1
        elsif !m[:space]
          type = %i[number string word op].find { |name| m[name] }
          out << Token.new(type, m[0], line)
        end
      end
      out << Token.new(:end, "", line)
    end
  end

  # Nodes. `line` comes first, so that `deconstruct` shows it too.
  module Node
    @kinds = []
    class << self
      attr_reader :kinds

      def define(name, *fields)
        @kinds << name
        const_set(name, Struct.new(:line, *fields))
      end
    end

    define :Num, :value
    define :Str, :value
    define :Const, :value
    define :Var, :name
    define :List, :items
    define :Map, :pairs
    define :Unary, :op, :value
    define :Binary, :op, :left, :right
    define :Logic, :op, :left, :right
    define :Call, :target, :args
    define :Index, :target, :index
    define :Fn, :name, :params, :body
    define :Let, :name, :value
    define :Assign, :target, :value
    define :If, :test, :yes, :no
    define :While, :test, :body
    define :For, :name, :list, :body
    define :Block, :items
    define :Return, :value
    define :Try, :body, :name, :handler
    define :Throw, :value
    define :Match, :value, :arms
  end

  class Parser
    class << self
      def prefixes = @prefixes ||= {}
      def infixes = @infixes ||= {}

      def prefix(*texts, &body)
        texts.each { |t| prefixes[t] = body }
      end

      def infix(power, *texts, right: false, &body)
        texts.each { |t| infixes[t] = [power, right, body || ->(p, left, op, rhs) { Node::Binary.new(op.line, op.text, left, rhs.()) }] }
      end
    end

    infix(1, "|>") { |_p, left, op, rhs| (call = rhs.()).is_a?(Node::Call) ? Node::Call.new(op.line, call.target, [left] + call.args) : Node::Call.new(op.line, call, [left]) }
    infix(2, "or") { |_p, left, op, rhs| Node::Logic.new(op.line, :or, left, rhs.()) }
    infix(3, "and") { |_p, left, op, rhs| Node::Logic.new(op.line, :and, left, rhs.()) }
    infix(5, "==", "!=")
    infix(6, "<", ">", "<=", ">=")
    infix(7, "..")
    infix(10, "+", "-")
    infix(20, "*", "/", "%")
    infix(40, "**", right: true)
    infix(60, "(") { |p, left, op, _rhs| Node::Call.new(op.line, left, p.list(")")) }
    infix(60, "[") { |p, left, op, _rhs| Node::Index.new(op.line, left, p.expression.tap { p.expect("]") }) }
    infix(60, ".") { |p, left, op, _rhs| Node::Index.new(op.line, left, Node::Str.new(op.line, p.name)) }

    prefix("-", "not") { |p, t| Node::Unary.new(t.line, t.text, p.expression(30)) }
    prefix("(") { |p, _t| p.expression.tap { p.expect(")") } }
    prefix("[") { |p, t| Node::List.new(t.line, p.list("]")) }
    prefix("{") { |p, t| Node::Map.new(t.line, p.list("}") { key = p.name; p.expect(":"); [key, p.expression] }) }
    prefix("true", "false", "nil") { |_p, t| Node::Const.new(t.line, { "true" => true, "false" => false }[t.text]) }
    prefix("fn") { |p, t| p.function(t) }
    prefix("if") do |p, t|
      test = p.expression
      p.expect("then")
      yes = p.block("else", "end")
      no = p.accept("else") ? p.block("end") : nil
      p.expect("end")
      Node::If.new(t.line, test, yes, no)
    end
    prefix("match") do |p, t|
      value = p.expression
      arms = []
      while p.accept("when")
        pattern = p.pattern
        guard = p.accept("if") ? p.expression : nil
        p.expect("then")
        arms << [pattern, guard, p.block("when", "end")]
      end
      p.expect("end")
      Node::Match.new(t.line, value, arms)
    end

    def initialize(tokens)
      @tokens = tokens
      @at = 0
    end

    def program
      tree = block
      raise ParseError.new("unexpected #{peek}", peek.line) unless peek.type == :end
      tree
    end

    def peek = @tokens[@at]
    def advance = @tokens[@at].tap { @at += 1 unless @tokens[@at].type == :end }
    def accept(text) = peek.is?(text) ? advance : nil
    def expect(text) = accept(text) || raise(ParseError.new("expected #{text.inspect}, found #{peek}", peek.line))

    def name
      t = advance
      t.type == :word && !Lexer::KEYWORDS.include?(t.text) or raise ParseError.new("expected a name, found #{t}", t.line)
      Pip.intern(t.text).last
    end

    def list(close)
      items = []
      until accept(close)
        items << (block_given? ? yield : expression)
        accept(",") || peek.is?(close) || raise(ParseError.new("expected , or #{close}, found #{peek}", peek.line))
      end
      items
    end

    def block(*ends)
      line = peek.line
      items = []
      items << statement until peek.type == :end || ends.any? { |text| peek.is?(text) }
      Node::Block.new(line, items)
    end

    def statement
      t = peek
      case t.text
      when "let" then advance; Node::Let.new(t.line, name, (expect("="); expression))
      when "return" then advance; Node::Return.new(t.line, expression)
      when "throw" then advance; Node::Throw.new(t.line, expression)
      when "while"
        advance
        test = expression
        expect("do")
        Node::While.new(t.line, test, block("end").tap { expect("end") })
      when "for"
        advance
        variable = name
        expect("in")
        list = expression
        expect("do")
        Node::For.new(t.line, variable, list, block("end").tap { expect("end") })
      when "try"
        advance
        body = block("rescue")
        expect("rescue")
        variable = name
        expect("then")
        Node::Try.new(t.line, body, variable, block("end").tap { expect("end") })
      else
        left = expression
        return left unless accept("=")
        left.is_a?(Node::Var) || left.is_a?(Node::Index) or raise ParseError.new("can't assign to that", t.line)
        Node::Assign.new(t.line, left, expression)
      end
    end

    def function(t)
      called = peek.is?("(") ? nil : name
      expect("(")
      params = list(")") { name }
      body = accept("->") ? expression : (accept("do"); block("end").tap { expect("end") })
      Node::Fn.new(t.line, called, params, body)
    end

    def pattern
      t = advance
      case t.type
      when :number then [:is, number(t)]
      when :string then [:is, text(t)]
      when :word
        %w[true false nil].include?(t.text) ? [:is, { "true" => true, "false" => false }[t.text]] : t.text == "_" ? [:any] : [:bind, t.text]
      else
        t.is?("[") or raise ParseError.new("bad pattern #{t}", t.line)
        rest = nil
        items = list("]") { accept("..") ? (rest = name; nil) : pattern }.compact
        [:list, items, rest]
      end
    end

    def number(t) = t.text =~ /[.e]/ ? t.text.to_f : t.text.to_i
    def text(t) = t.text[1..-2].gsub(/\\(.)/) { { "n" => "\n", "t" => "\t" }.fetch($1, $1) }

    def expression(power = 0)
      t = advance
      left =
        case t.type
        when :number then Node::Num.new(t.line, number(t))
        when :string then Node::Str.new(t.line, text(t))
        else
          rule = self.class.prefixes[t.text]
          if rule then rule.call(self, t)
          elsif t.type == :word && !Lexer::KEYWORDS.include?(t.text) then Node::Var.new(t.line, Pip.intern(t.text).last)
          else raise ParseError.new("unexpected #{t}", t.line)
          end
        end
      loop do
        op = peek
        strength, right, rule = self.class.infixes[op.text]
        break unless strength && strength > power && %i[op word].include?(op.type) && !(["(", "["].include?(op.text) && op.line != @tokens[@at - 1].line)
        advance
        left = rule.call(self, left, op, -> { expression(right ? strength - 1 : strength) })
      end
      left
    end
  end

  # Folds constant arithmetic; everything else is rebuilt as it is.
  class Folder
    @folded = 0
    class << self
      attr_accessor :folded
    end

    def fold(node)
      case node
      in Node::Binary[line, op, left, right]
        case [op, fold(left), fold(right)]
        in ["+" | "-" | "*" => o, Node::Num[_, a], Node::Num[_, b]]
          self.class.folded += 1
          Node::Num.new(line, a.public_send(o, b))
        in [_, l, r]
          Node::Binary.new(line, op, l, r)
        end
      in Node::Unary[line, "-", Node::Num[_, value]]
        self.class.folded += 1
        Node::Num.new(line, -value)
      in Struct
        node.class.new(*node.to_a.map { |part| fold(part) })
      in Array
        node.map { |part| fold(part) }
      else
        node
      end
    end
  end

  class Scope
    @@made = 0
    def self.made = @@made

    def initialize(parent = nil)
      @@made += 1
      @parent = parent
      @names = {}
    end

    def define(name, value) = @names[name] = value
    def find(name) = @names.key?(name) ? self : @parent&.find(name)
    def [](name) = @names[name]
    def []=(name, value)
      @names[name] = value
    end
  end

  Closure = Struct.new(:fn, :scope) do
    def to_s = "fn #{fn.name || "?"}/#{fn.params.size}"
    alias_method :inspect, :to_s
  end

  class Thrown < StandardError
    attr_reader :value

    def initialize(value)
      @value = value
      super("thrown")
    end
  end

  class Machine
    LIMIT = 900
    class << self
      def builtins = @builtins ||= {}

      def builtin(name, arity, &body)
        builtins[name] = arity
        define_method(:"builtin_#{name}", &body)
      end
    end

    builtin("print", 1) { |v| @out << show(v) << "\n"; nil }
    builtin("len", 1) { |v| v.size }
    builtin("push", 2) { |list, v| list << v }
    builtin("keys", 1) { |map| map.keys }
    builtin("str", 1) { |v| show(v) }
    builtin("map", 2) { |list, f| list.map { |v| call(f, [v], 0) } }
    builtin("select", 2) { |list, f| list.select { |v| call(f, [v], 0) } }
    builtin("fold", 3) { |list, start, f| list.inject(start) { |a, b| call(f, [a, b], 0) } }
    builtin("sort", 1) { |list| list.sort }
    builtin("join", 2) { |list, s| list.map { |v| show(v) }.join(s) }

    attr_reader :out, :steps

    def initialize
      @out = +""
      @steps = 0
      @globals = Scope.new
      self.class.builtins.each_key { |name| @globals.define(name, name.to_sym) }
    end

    def run(tree)
      catch(:return) { return visit(tree, @globals) }
    end

    def visit(node, scope)
      (@steps += 1) > LIMIT and raise RunError.new("too many steps", node.line)
      case node
      when Node::Num, Node::Str, Node::Const then node.value
      when Node::Var then (scope.find(node.name) or raise RunError.new("unknown name #{node.name}#{hint(node.name)}", node.line))[node.name]
      when Node::List then node.items.map { |item| visit(item, scope) }
      when Node::Map then node.pairs.to_h { |key, value| [key, visit(value, scope)] }
      when Node::Unary then node.op == "-" ? -visit(node.value, scope) : !visit(node.value, scope)
      when Node::Logic then (left = visit(node.left, scope)) ^ (node.op == :and) ? left : visit(node.right, scope)
      when Node::Binary then binary(node, visit(node.left, scope), visit(node.right, scope))
      when Node::Call then call(visit(node.target, scope), node.args.map { |a| visit(a, scope) }, node.line)
      when Node::Index then visit(node.target, scope)[visit(node.index, scope)]
      when Node::Fn then Closure.new(node, scope).tap { |c| scope.define(node.name, c) if node.name }
      when Node::Let then scope.define(node.name, visit(node.value, scope))
      when Node::Assign then assign(node, scope)
      when Node::If then visit(node.test, scope) ? visit(node.yes, scope) : node.no && visit(node.no, scope)
      when Node::While then (visit(node.body, Scope.new(scope)) while visit(node.test, scope))
      when Node::For then visit(node.list, scope).each { |v| visit(node.body, Scope.new(scope).tap { |s| s.define(node.name, v) }) }
      when Node::Block then node.items.inject(nil) { |_, item| visit(item, scope) }
      when Node::Return then throw :return, visit(node.value, scope)
      when Node::Throw then raise Thrown.new(visit(node.value, scope))
      when Node::Try then try(node, scope)
      when Node::Match then match(node, scope)
      else raise RunError.new("what is #{node.class}?", node.line)
      end
    end

    def binary(node, a, b)
      case node.op
      when "==" then a == b
      when "!=" then a != b
      when ".." then (a..b).to_a
      when "+" then a.is_a?(String) ? a + show(b) : a + b
      when "/" then b == 0 ? raise(RunError.new("division by zero", node.line)) : a.is_a?(Integer) && b.is_a?(Integer) && a % b != 0 ? a.fdiv(b) : a / b
      else a.public_send(node.op, b)
      end
    rescue NoMethodError, TypeError, ArgumentError
      raise RunError.new("can't do #{show(a)} #{node.op} #{show(b)}", node.line)
    end

    def assign(node, scope)
      value = visit(node.value, scope)
      case node.target
      in Node::Var[line, name] then (scope.find(name) or raise RunError.new("#{name} was never let", line))[name] = value
      in Node::Index[_, target, index] then visit(target, scope)[visit(index, scope)] = value
      end
    end

    def call(target, args, line)
      case target
      when Symbol
        arity = self.class.builtins.fetch(target.to_s)
        args.size == arity or raise RunError.new("#{target} takes #{arity}, not #{args.size}", line)
        send(:"builtin_#{target}", *args)
      when Closure
        args.size == target.fn.params.size or raise RunError.new("#{target} called with #{args.size}", line)
        scope = Scope.new(target.scope)
        target.fn.params.zip(args) { |name, value| scope.define(name, value) }
        catch(:return) { visit(target.fn.body, scope) }
      else raise RunError.new("#{show(target)} is no function", line)
      end
    end

    def try(node, scope)
      visit(node.body, scope)
    rescue Thrown, RunError => e
      inner = Scope.new(scope)
      inner.define(node.name, e.is_a?(Thrown) ? e.value : e.message)
      visit(node.handler, inner)
    ensure
      TRACE << node.line
    end

    def match(node, scope)
      value = visit(node.value, scope)
      node.arms.each do |pattern, guard, body|
        inner = Scope.new(scope)
        next unless fits?(pattern, value, inner) && (guard.nil? || visit(guard, inner))
        return visit(body, inner)
      end
      raise RunError.new("nothing matches #{show(value)}", node.line)
    end

    def fits?(pattern, value, scope)
      case pattern
      in [:any] then true
      in [:is, literal] then literal == value
      in [:bind, name] then scope.define(name, value); true
      in [:list, items, rest]
        return false unless value.is_a?(Array) && (rest ? value.size >= items.size : value.size == items.size)
        scope.define(rest, value.drop(items.size)) if rest
        items.zip(value).all? { |p, v| fits?(p, v, scope) }
      end
    end

    def hint(name)
      near = $interned.keys.select { |n| n != name && n[0] == name[0] && (n.size - name.size).abs < 2 && @globals.find(n) }.min
      near ? ", perhaps #{near}" : ""
    end

    def show(v)
      case v
      in nil then "nil"
      in String then v
      in Array then "[#{v.map { |x| x.is_a?(String) ? x.inspect : show(x) }.join(", ")}]"
      in Hash then "{#{v.map { |k, x| "#{k}: #{show(x)}" }.join(", ")}}"
      in Float if v == v.to_i then v.to_i.to_s
      else v.to_s
      end
    end
  end

  SOURCES = [
    ["fibonacci", "fn fib(n) -> if n < 2 then n else fib(n - 1) + fib(n - 2) end\nprint(map(0..5, fib))\nprint(2 ** 3 ** 2 - -4 * (1 + 2 * 3))"],
    ["counter", "fn counter() do\n let n = 0\n fn () do n = n + 1 return n * 10 end\nend\nlet a = counter() let b = counter()\na() a()\nprint([a(), b()])"],
    ["sieve", "let primes = []\nfor n in 2..12 do\n let ok = true\n for p in primes do if n % p == 0 then ok = false end end\n if ok then push(primes, n) end\nend\nprint(join(primes, \" \"))"],
    ["maps", "let m = {name: \"Ada\", born: 1815}\nm.name = m.name + \"!\"\nm[\"died\"] = 1852\nprint(m) print(m.died - m.born) print(keys(m) |> sort |> join(\",\"))"],
    ["match", "fn sum(list) -> match list when [] then 0 when [x, ..rest] then x + sum(rest) end\nfn kind(v) -> match v when 0 then \"zero\" when [_, _] then \"pair\" when n if n == 7 then \"seven\" when _ then \"other\" end\nprint(sum([1, 2, 3.5])) print(map([0, [1, 2], 7, 8], kind))"],
    ["errors", "fn risky(n) do if n > 2 then throw {code: n} end return 10 / n end\nfor n in [2, 0, 3] do try print(risky(n)) rescue e then print(\"caught \" + str(e)) end end"],
    ["logic", "print(false or 3) print(nil and 4) print(not nil) print(1 < 2 and 2 < 3) print(\"a\" == \"a\")"],
    ["unknown", "let counter = 1\nprint(countr)"], ["syntax", "let x = (1 + \n]"], ["lex", "let x = 1\n  ^"], ["arity", "fn f(a) -> a\nf(1, 2)"],
    ["endless", "let i = 0\nwhile true do i = i + 1 end"], ["types", "print(\"a\" * \"b\")"], ["nothing", "match 5 when 4 then 1 end"]
  ]

  @rounds = 0

  class << self
    def parse(text)
      PROGRAMS[text] ||= Folder.new.fold(Parser.new(Lexer.new(text).tokens).program)
    end

    def size(node)
      case node
      in Struct then 1 + node.to_a.sum { |part| size(part) }
      in Array then node.sum { |part| size(part) }
      else 0
      end
    end

    def main
      @rounds += 1
      puts "== round #{@rounds}"
      SOURCES.each do |name, text|
        machine = Machine.new
        machine.run(parse(text + "\nlet round#{@rounds % 3} = #{@rounds}"))
        puts "#{name} (#{machine.steps} steps): #{machine.out.split("\n").join(" | ")}"
      rescue PipError => e
        puts "#{name}: #{e.class.name.split("::").last} #{e.message}"
      end
      puts "nodes #{PROGRAMS.values.sum { |tree| size(tree) }} of #{Node.kinds.size} kinds, folded #{Folder.folded}, scopes #{Scope.made}, names #{$interned.size}"
      puts "trace #{TRACE.tally.sort.join(" ")} #{$interned.values.last(2).join(" ")} #{Machine.instance_methods(false).grep(/builtin_/).size}"
    end
  end
end

2.times { Pip.main }
