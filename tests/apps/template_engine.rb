# A template engine: templates are compiled to Ruby methods once and kept. Filters, helpers, layouts, partials, blocks and inheritance.
# State: compiled templates in a constant, filters in a class variable, counters in a global, options in a class-level ivar, a memoised default engine.

$renders = 0

module Stencil
  VERSION = [1, 4, 0].join(".")
  COMPILED = {}
  ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;", "'" => "&#39;" }
  STATS = Hash.new(0)
  LOG = []

  class Error < StandardError; end

  class SyntaxError < Error
    attr_reader :template, :line

    def initialize(message, template, line)
      super("#{message} (#{template}:#{line})")
      @template = template
      @line = line
    end
  end

  class MissingTemplate < Error
    def initialize(name, known)
      super("no template #{name.inspect}; there are #{known.sort.join(", ")}")
    end
  end

  class << self
    attr_accessor :strict

    def default
      @default ||= Engine.new
    end

    def configure
      yield self
      self
    end

    def escape(value)
      STATS[:escaped] += 1
      value.to_s.gsub(/[&<>"']/, ESCAPES)
    end

    def log(text)
      LOG << format("%03d %s", LOG.size, text)
      LOG.shift while LOG.size > 200
    end
  end

  self.strict = true

  # Splits a template into text, output and code.
  class Scanner
    TAG = /\{\{(?<output>.*?)\}\}|\{%(?<code>.*?)%\}|\{#.*?#\}/m
    Token = Struct.new(:kind, :value, :line)

    include Enumerable

    def initialize(source, name)
      @source = source
      @name = name
    end

    def each
      return to_enum(:each) unless block_given?
      rest = @source
      line = 1
      while (match = TAG.match(rest))
        text = match.pre_match
        yield Token.new(:text, text, line) unless text.empty?
        line += text.count("\n")
        if match[:output]
          yield Token.new(:output, match[:output].strip, line)
        elsif match[:code]
          yield Token.new(:code, match[:code].strip, line)
        end
        line += match[0].count("\n")
        rest = match.post_match
      end
      raise SyntaxError.new("unclosed tag", @name, line) if rest.include?("{{") || rest.include?("{%")
      yield Token.new(:text, rest, line) unless rest.empty?
    end
  end

  # Filters that stand behind a bar: {{ name | upcase | truncate: 10 }}
  module Filters
    @@filters = {}

    def self.define(name, &body)
      @@filters[name.to_s] = body
    end

    def self.known = @@filters.keys

    def self.apply(name, value, args)
      STATS[:filters] += 1
      body = @@filters.fetch(name) { raise Error, "no filter #{name}" }
      body.call(value, *args)
    end

    define(:upcase) { |v| v.to_s.upcase }
    define(:capitalize) { |v| v.to_s.split.map(&:capitalize).join(" ") }
    define(:truncate) { |v, n = 20, tail = "..."| v.to_s.length > n ? v.to_s[0, n - tail.length] + tail : v.to_s }
    define(:default) { |v, other| v.nil? || v.to_s.empty? ? other : v }
    define(:join) { |v, separator = ", "| Array(v).join(separator) }
    define(:money) { |v, unit = "$"| unit + format("%.2f", v).reverse.scan(/\d{1,3}(?:\.?)|\.\d+/).join.reverse.gsub(/(\d)(?=(\d{3})+\.)/, '\1,') }
    define(:plural) { |n, one, many = nil| "#{n} #{n == 1 ? one : many || one + "s"}" }
    define(:pad) { |v, n = 10| v.to_s.ljust(n, ".") }
    define(:lines) { |v| v.to_s.lines.map(&:chomp).reject(&:empty?).size }
    define(:raw) { |v| Safe.new(v.to_s) }
  end

  # Text that is not escaped again.
  class Safe < String
    def to_s = self
    def +(other) = Safe.new(super)
  end

  # Turns tokens into the source of a method body.
  class Compiler
    BLOCKS = { "if" => "end", "unless" => "end", "for" => "end", "block" => "endblock", "cache" => "end" }

    def initialize(name, source)
      @name = name
      @source = source
      @out = []
      @open = []
      @parent = nil
    end

    attr_reader :parent

    def compile
      Scanner.new(@source, @name).each do |token|
        send(:"on_#{token.kind}", token)
      end
      unless @open.empty?
        kind, line = @open.last
        raise SyntaxError.new("#{kind} is never closed", @name, line)
      end
      @out.join("\n")
    end

    private

    def emit(line) = @out << ("  " * (@open.size + 1) + line)

    def on_text(token)
      emit "__out << #{token.value.dump}.dup.force_encoding(Encoding::UTF_8)"
    end

    def on_output(token)
      emit "__out << __show((#{filtered(token.value)}))"
    end

    def filtered(text)
      expression, *filters = text.split(/\s*\|\s*(?=[a-z_]+\s*(?::|$|\|))/)
      filters.inject(lookup(expression)) do |code, filter|
        name, args = filter.split(/\s*:\s*/, 2)
        "::Stencil::Filters.apply(#{name.dump}, (#{code}), [#{args}])"
      end
    end

    def on_code(token)
      word, rest = token.value.split(/\s+/, 2)
      case word
      when "if", "unless"
        emit "#{word} (#{lookup(rest)})"
        @open << [word, token.line]
      when "elsif"
        @out << "#{"  " * @open.size}elsif (#{lookup(rest)})"
      when "else"
        @out << "#{"  " * @open.size}else"
      when "for"
        rest =~ /\A(\w+)(?:\s*,\s*(\w+))?\s+in\s+(.+)\z/m or raise SyntaxError.new("for NAME in LIST", @name, token.line)
        emit "__each((#{lookup($3)})) do |__item, __index|"
        @open << [word, token.line]
        emit "__with(#{$1.dump} => __item, #{($2 || "index").dump} => __index) do"
        @open << [:with, token.line]
      when "block"
        emit "__block(#{rest.dump}) do"
        @open << [word, token.line]
      when "cache"
        emit "__cached(#{lookup(rest)}) do"
        @open << [word, token.line]
      when "extends"
        @parent = rest.delete(%q("'))
      when "include"
        name, assigns = rest.split(/\s+with\s+/, 2)
        emit "__out << __include(#{lookup(name)}, #{assigns ? "{#{hash_source(assigns)}}" : "{}"})"
      when "set"
        target, value = rest.split(/\s*=\s*/, 2)
        emit "__set(#{target.dump}, (#{filtered(value)}))"
      when "end", "endblock"
        kind, = @open.pop
        raise SyntaxError.new("#{word} without a beginning", @name, token.line) unless kind
        emit "end"
        if kind == :with
          @open.pop
          emit "end"
        end
      else
        raise SyntaxError.new("unknown tag #{word}", @name, token.line)
      end
    end

    def hash_source(text) = text.split(/\s*,\s*/).map { |pair| k, v = pair.split(/\s*:\s*/, 2); "#{k.dump} => (#{lookup(v)})" }.join(", ")

    # `user.name` becomes a walk through the context; literals and Ruby expressions with calls stay.
    def lookup(text)
      text = text.to_s.strip
      return text if text =~ /\A(?:-?\d+(?:\.\d+)?|true|false|nil|"[^"]*"|'[^']*'|\[.*\]|:\w+)\z/m
      if text =~ /\A(.+?)\s+(==|!=|>=|<=|>|<|and|or|\+|\*)\s+(.+)\z/m
        left, op, right = $1, $2, $3
        return "(#{lookup(left)}) #{op} (#{lookup(right)})"
      end
      return "!(#{lookup($1)})" if text =~ /\Anot\s+(.+)\z/m
      return "__get(#{text.split(".").map(&:dump).join(", ")})" if text =~ /\A[a-z_]\w*(?:\.\w+[?]?)*\z/
      raise SyntaxError.new("can't read #{text.inspect}", @name, 0)
    end
  end

  # What compiled templates run in.
  class Context
    attr_reader :depth

    def initialize(engine, assigns, blocks = {}, depth = 0)
      @engine = engine
      @scopes = [assigns.transform_keys(&:to_s)]
      @blocks = blocks
      @depth = depth
      @buffers = []
    end

    def __run(name)
      method, parent = @engine.method_for(name)
      text = __capture { send(method, @buffers.last) }
      return text unless parent
      @in_parent = true
      __run(parent)
    end

    def __capture
      @buffers << +""
      yield
      @buffers.last
    ensure
      @buffers.pop
    end

    def __get(first, *rest)
      scope = @scopes.reverse_each.find { |s| s.key?(first) }
      value = scope ? scope[first] : @engine.helper(first) { return __missing(first) }
      rest.each do |part|
        value =
          case value
          when Hash then value.fetch(part) { value[part.to_sym] }
          when Array then part =~ /\A\d+\z/ ? value[part.to_i] : value.public_send(part)
          when nil then return __missing(part)
          else value.public_send(part)
          end
      end
      value
    end

    def __missing(name)
      STATS[:missing] += 1
      raise Error, "#{name} is not set" if Stencil.strict && !name.end_with?("?")
      nil
    end

    def __set(name, value) = @scopes.last[name] = value

    def __with(names)
      @scopes << names
      yield
    ensure
      @scopes.pop
    end

    def __each(list, &block) = list.each_with_index(&block)

    def __show(value)
      value.is_a?(Safe) ? value : Stencil.escape(value)
    end

    def __block(name)
      # What the most derived template wrote wins.
      @blocks[name] ||= __capture_into { yield }
      @buffers.last << @blocks[name]
    end

    def __capture_into
      mark = @buffers.last.length
      yield
      @buffers.last.slice!(mark..)
    end

    def __cached(key)
      store = @engine.fragments
      if store.key?(key)
        STATS[:fragment_hits] += 1
      else
        store[key] = __capture_into { yield }
      end
      @buffers.last << store[key]
    end

    def __include(name, assigns)
      raise Error, "includes nested too deep" if @depth > 8
      merged = @scopes.inject({}) { |all, s| all.merge(s) }.merge(assigns)
      Safe.new(Context.new(@engine, merged, {}, @depth + 1).__run(name))
    end
  end

  class Engine
    attr_reader :fragments

    def initialize
      @sources = {}
      @helpers = {}
      @fragments = {}
    end

    def add(name, source)
      @sources[name] = source
      COMPILED.delete(name)
      self
    end

    def add_helper(name, &body)
      @helpers[name.to_s] = body
    end

    def helper(name)
      body = @helpers[name]
      body ? body.call : yield
    end

    def method_for(name)
      COMPILED[name] ||= begin
        source = @sources.fetch(name) { raise MissingTemplate.new(name, @sources.keys) }
        STATS[:compiled] += 1
        compiler = Compiler.new(name, source)
        body = compiler.compile
        method = :"__template_#{STATS[:compiled]}"
        Context.class_eval("def #{method}(__out)\n#{body}\nend", "#{name}.stencil", 0)
        Stencil.log("compiled #{name} (#{body.lines.size} lines)")
        [method, compiler.parent]
      end
    end

    def render(name, assigns = {})
      $renders += 1
      Context.new(self, assigns).__run(name)
    end
  end
end

# The templates and data of a small shop.
Product = Struct.new(:name, :price, :tags, :stock) do
  def available? = stock.positive?
end

Stencil.configure do |stencil|
  stencil.strict = true
  engine = stencil.default
  engine.add_helper(:renders) { $renders }
  engine.add "layout", <<~T
    <html><head><title>{% block title %}Shop{% endblock %}</title></head>
    <body>{# a comment #}
    {% block body %}nothing{% endblock %}
    <footer>{{ renders }} renders, {{ year }}</footer></body></html>
  T
  engine.add "list", <<~T
    {% extends "layout" %}{% block title %}{{ heading | capitalize }}{% endblock %}{% block body %}<ul>
    {% for product, i in products %}{% include "item" with position: i, css: "row" %}{% end %}</ul>
    {{ products.size | plural: "product" }}{% endblock %}
  T
  engine.add "item", <<~T
    <li class="{{ css }}">{{ position + 1 }}. {{ product.name | truncate: 14 | pad: 15 }} {{ product.price | money }}{% if product.available? %} in stock{% elsif product.price > 100 %} on order{% else %} sold out{% end %} [{{ product.tags | join }}]</li>
  T
  engine.add "card", <<~T
    {% cache product.name %}{% set shown = product.name | upcase %}<b>{{ shown }}</b> {{ product.tags | join: " & " }}{% end %}
  T
  engine.add "note", "{{ note.text }} by {{ note.author | default: \"anonymous\" }} {{ html | raw }}"
end

module Shop
  WORDS = %w[brass copper walnut linen amber slate cedar ivory]
  @pages = 0

  class << self
    attr_reader :pages

    def products(round)
      @products ||= {}
      @products[round] ||= Array.new(6) do |i|
        a, b = WORDS[(i * 3 + round) % 8], WORDS[(i * 5 + round * 2 + 1) % 8]
        Product.new("#{a} #{b} <#{i}>", (i + 1) * 37.5 * (round + 1), [a, b].uniq, (i * 7 + round) % 3)
      end
    end

    def main
      @pages += 1
      engine = Stencil.default
      list = products(@pages)
      puts "== page #{@pages}"
      puts engine.render("list", heading: "all of #{WORDS[@pages % 8]}", products: list, year: 2020 + @pages)
      list.first(3).each { |product| 2.times { print engine.render("card", "product" => product) } }
      puts engine.render("note", note: { text: "tea & \"biscuits\"", author: @pages.odd? ? nil : "O'Hara" }, html: "<hr>")
      failures(engine)
      puts "renders #{$renders}, filters known #{Stencil::Filters.known.size}, compiled #{Stencil::COMPILED.keys.sort.join(" ")}"
      puts Stencil::STATS.sort.map { |k, v| "#{k}=#{v}" }.join(" ")
      puts Stencil::LOG.last(3)
    end

    def failures(engine)
      [["broken", "{% for x of y %}{% end %}"], ["open", "a\n{% if true %}b"], ["tag", "{% wat %}"], ["lost", "{{ nobody }}"], ["f", "{{ 1 | zap }}"]].each do |name, source|
        engine.add(name, source)
        engine.render(name)
      rescue Stencil::SyntaxError => e
        puts "#{e.class}: #{e.message} at #{e.line}"
      rescue Stencil::Error => e
        puts "#{e.class}: #{e.message}"
      end
      engine.render("absent")
    rescue Stencil::MissingTemplate => e
      puts e.message
    end
  end
end

2.times { Shop.main }
