# A pricing engine with a DSL: rule sets written with instance_eval and method_missing, attributes made by define_method, a Singleton registry,
# refinements, hooks (inherited, included, method_added, const_missing), Comparable money, an audit log closed by at_exit.
# State: class variables, class-level ivars, globals, mutable constants, memoised singletons, an identity cache in ObjectSpace::WeakMap.

require "singleton"
require "forwardable"

$trace = []
$currency = "EUR"

# Amounts in cents, exact.
class Money
  include Comparable
  attr_reader :cents, :currency

  RATES = { ["EUR", "USD"] => 1.08r, ["USD", "EUR"] => Rational(100, 108), ["EUR", "GBP"] => 0.86r, ["GBP", "EUR"] => Rational(100, 86) }
  @@interned = {}

  class << self
    def [](amount, currency = $currency)
      @@interned[[amount, currency]] ||= new((amount * 100).round, currency)
    end

    def interned = @@interned.size
  end

  def initialize(cents, currency)
    @cents = cents
    @currency = currency
    freeze
  end

  def to(other)
    return self if other == currency
    rate = RATES[[currency, other]] || RATES[[currency, "EUR"]]&.*(RATES.fetch(["EUR", other]))
    rate or raise ArgumentError, "no rate from #{currency} to #{other}"
    Money.new((cents * rate).round(half: :even), other)
  end

  def coerce(number) = [self, number]
  def +(other) = other == 0 ? self : Money.new(cents + other.to(currency).cents, currency)
  def -(other) = Money.new(cents - other.to(currency).cents, currency)
  def *(factor) = Money.new((cents * factor).round(half: :even), currency)
  def -@ = Money.new(-cents, currency)
  def <=>(other) = other.is_a?(Money) ? cents <=> other.to(currency).cents : nil
  def hash = [cents, currency].hash
  def eql?(other) = other.is_a?(Money) && cents == other.cents && currency == other.currency
  def zero? = cents.zero?
  def negative? = cents.negative?

  def to_s
    whole, part = cents.abs.divmod(100)
    format("%s%s.%02d %s", cents.negative? ? "-" : "", whole.digits(1000).reverse.map.with_index { |d, i| i.zero? ? d.to_s : format("%03d", d) }.join(","), part, currency)
  end
  alias inspect to_s
end

# 5.eur, 10.percent
module Units
  refine Numeric do
    def eur = Money[self, "EUR"]
    def usd = Money[self, "USD"]
    def percent = Rational(rationalize, 100)
  end

  refine Array do
    def total = inject(Money[0], :+)
  end
end

using Units

# Declared attributes with checks and defaults, kept per class and inherited.
module Attributes
  def self.included(base)
    base.extend(ClassMethods)
    base.instance_variable_set(:@attributes, {})
    (@users ||= []) << base.name
  end

  def self.users = @users

  module ClassMethods
    def inherited(sub)
      super
      sub.instance_variable_set(:@attributes, attributes.dup)
    end

    def attributes = @attributes

    def attribute(name, default: nil, check: nil)
      @attributes[name] = default
      define_method(name) { @values.fetch(name) { default.respond_to?(:call) ? instance_exec(&default) : default } }
      define_method(:"#{name}=") do |value|
        raise ArgumentError, "bad #{name}: #{value.inspect}" if check && !(check === value)
        @values[name] = value
      end
      define_method(:"#{name}?") { !!public_send(name) }
    end
  end

  def initialize(**values)
    @values = {}
    values.each { |name, value| public_send(:"#{name}=", value) }
  end

  def to_h = self.class.attributes.keys.to_h { |name| [name, public_send(name)] }
end

class Item
  include Attributes
  attribute :sku, check: /\A[A-Z]+-\d+\z/
  attribute :price, check: Money
  attribute :quantity, default: 1, check: 1..999
  attribute :tags, default: -> { [kind] }

  @made = Hash.new(0)
  class << self
    attr_reader :made

    def inherited(sub)
      super
      KINDS[sub.name.downcase.to_sym] = sub
    end
  end

  KINDS = {}

  def initialize(**)
    super
    Item.made[kind] += 1
  end

  def kind = self.class.name.downcase.to_sym
  def subtotal = price * quantity
end

class Book < Item
  attribute :pages, default: 100
end

class Gadget < Item
  attribute :volts, default: 12
  def tags = super + [volts > 24 ? :industrial : :home]
end

class Voucher < Item
  attribute :code, default: -> { "V#{sku[/\d+/]}" }
  def subtotal = -super
end

class Customer
  include Attributes
  attribute :name
  attribute :level, default: :basic, check: ->(v) { %i[basic silver gold].include?(v) }
  attribute :orders, default: 0
  attribute :country, default: "DE"
end

class Audit
  include Singleton
  include Enumerable
  extend Forwardable

  def_delegators :@entries, :size, :last, :empty?
  def_delegator :self, :add, :<<

  def initialize
    @entries = []
    @counts = Hash.new { |h, k| h[k] = Hash.new(0) }
    at_exit { @entries.clear }
  end

  def add(entry)
    @counts[entry[:set]][entry[:rule]] += 1
    @entries << entry
    self
  end

  def each(&block) = @entries.each(&block)
  def summary = @counts.map { |set, rules| "#{set}(#{rules.sort.map { |r, n| "#{r}:#{n}" }.join(" ")})" }.sort
end

# A rule: conditions, then effects; both are recorded calls.
class Rule
  class UnknownWord < NoMethodError; end

  Effect = Struct.new(:label, :kind, :value, :target, keyword_init: true)

  WORDS = %i[customer items total cart]
  attr_reader :name, :conditions, :effects, :priority

  def initialize(name, priority = 0, &body)
    @name = name
    @priority = priority
    @conditions = []
    @effects = []
    instance_eval(&body)
    freeze
  end

  def given(description = nil, &test)
    @conditions << [description || "condition #{@conditions.size + 1}", test]
    self
  end

  def discount(value, on: :total, label: nil) = effect(:discount, value, on, label)
  def surcharge(value, on: :total, label: nil) = effect(:surcharge, value, on, label)
  def stop = effect(:stop, nil, nil, "stop")

  # `when_customer_is :gold`, `unless_any_book`, `when_total_over 50`
  def method_missing(word, *args, &block)
    case word.to_s
    when /\Awhen_customer_is\z/ then given("level in #{args.join("/")}") { args.include?(customer.level) }
    when /\A(when|unless)_any_(\w+)\z/
      kind, wanted = $2.to_sym, $1 == "when"
      given("#{$1} any #{kind}") { items.any? { |i| i.tags.include?(kind) } == wanted }
    when /\A(?:when_)?total_(over|under)\z/
      over = $1 == "over"
      given("total #{$1} #{args.first}") { over ? total > args.first : total < args.first }
    when /\Aevery_(\d+)(?:st|nd|rd|th)_order\z/
      n = $1.to_i
      given("every #{n}th order") { (customer.orders % n).zero? }
    else super
    end
  rescue NoMethodError => e
    raise e unless e.name == word && e.receiver.equal?(self)
    raise UnknownWord.new("no word #{word} in rule #{name}", word)
  end

  def respond_to_missing?(word, include_all = false) = word.to_s.match?(/\A(when|unless|total|every)_/) || super

  def applies?(cart)
    conditions.all? { |_, test| cart.instance_exec(&test) }
  end

  private

  def effect(kind, value, target, label)
    @effects << Effect.new(label: label || "#{name}", kind: kind, value: value, target: target)
    self
  end
end

class RuleSet
  @sets = {}
  @@evaluations = 0

  class << self
    attr_reader :sets

    def define(name, **options, &body)
      @sets[name] = new(name, **options).tap { |set| set.instance_eval(&body) }
    end

    def evaluations = @@evaluations

    def const_missing(name)
      key = name.to_s.gsub(/([a-z])([A-Z])/, '\1_\2').downcase.to_sym
      $trace << "const #{name}"
      @sets.key?(key) ? const_set(name, @sets[key]) : super
    end
  end

  include Enumerable
  attr_reader :name

  def initialize(name, parent: nil)
    @name = name
    @parent = parent && RuleSet.sets.fetch(parent)
    @rules = []
  end

  def rule(name, priority: 0, &body)
    @rules << Rule.new(name, priority, &body)
    @sorted = nil
  end

  def each(&block)
    @sorted ||= ((@parent ? @parent.to_a : []) + @rules).sort_by.with_index { |r, i| [-r.priority, i] }
    @sorted.each(&block)
  end

  def price(cart)
    lines = []
    each do |rule|
      @@evaluations += 1
      next unless rule.applies?(cart)
      Audit.instance << { set: name, rule: rule.name }
      rule.effects.each do |effect|
        return lines if effect.kind == :stop
        base = effect.target == :total ? cart.total : cart.items.select { |i| i.tags.include?(effect.target) }.map(&:subtotal).total
        amount = effect.value.is_a?(Money) ? effect.value : base * effect.value
        amount = -amount if effect.kind == :discount
        lines << [effect.label, amount] unless amount.zero?
      end
    end
    lines
  end
end

class Cart
  attr_reader :customer, :items

  PRICED = ObjectSpace::WeakMap.new

  def initialize(customer, items)
    @customer = customer
    @items = items
  end

  def total = items.map(&:subtotal).total

  def receipt(set)
    # Held by the cart, too: a WeakMap alone keeps no value.
    PRICED[self] ||= @receipt = begin
      $trace << "priced #{customer.name}"
      lines = items.map { |i| ["#{i.quantity} x #{i.sku} #{i.tags.join("/")}", i.subtotal] } + set.price(self)
      sum = lines.map(&:last).total
      lines.map { |label, amount| format("  %-38s %14s", label, amount) } << format("  %-38s %14s", "to pay", sum.negative? ? Money[0] : sum)
    end
  end
end

RuleSet.define(:base) do
  rule("small order", priority: -1) { total_under(20.eur).surcharge(3.5.eur, label: "handling") }
  rule("welcome") { given("first order") { customer.orders.zero? }.discount 5.percent }
  rule("free shipping") do
    given { items.any? { |i| i.is_a?(Voucher) } }
    discount 0.eur
  end
end

RuleSet.define(:season, parent: :base) do
  rule("gold", priority: 5) { when_customer_is(:gold, :silver).discount(Rational(1, 8), on: :book) }
  rule("power") do
    when_any_industrial
    unless_any_book
    surcharge 4.eur, label: "transformer"
    discount 10.percent, on: :industrial
  end
  rule("fifth") { every_5th_order.discount 2.5.percent }
  rule("export", priority: -2) do
    given { customer.country != "DE" }
    surcharge Money[9.99, "USD"]
  end
  rule("cap", priority: 1) { when_total_over(1_000.eur).discount(100.eur).stop }
end

module Till
  PEOPLE = [["Ada", :gold, 4, "UK"], ["Bob", :basic, 0, "DE"], ["Cyd", :silver, 10, "FR"], ["Dee", :basic, 5, "DE"]]
  SHELF = Hash.new do |shelf, sku|
    number = sku[/\d+/].to_i
    kind = { "B" => :book, "G" => :gadget, "V" => :voucher }.fetch(sku[0])
    extra = kind == :gadget ? { volts: number.even? ? 36 : 9 } : {}
    shelf[sku] = [Item::KINDS.fetch(kind), { sku: sku, price: Money[number * 1.25 + 2, number % 3 == 0 ? "USD" : "EUR"], **extra }]
  end
  @days = 0

  class << self
    def item(sku, quantity = 1)
      type, values = SHELF[sku]
      type.new(**values, quantity: quantity)
    end

    def customers = @customers ||= PEOPLE.map { |name, level, orders, country| Customer.new(name: name, level: level, orders: orders, country: country) }

    def main
      @days += 1
      $trace.clear
      puts "== day #{@days} in #{$currency}"
      carts = customers.each_with_index.map do |customer, i|
        n = i + @days
        Cart.new(customer, [item("B-#{n}", i + 1), item("G-#{n * 14}", 1 + n % 2), *(n.odd? ? [item("V-#{n}")] : [])])
      end
      carts << Cart.new(customers.first, [item("G-30", 25)])
      carts.each do |cart|
        puts "#{cart.customer.name} (#{cart.customer.level}, order #{cart.customer.orders})"
        puts cart.receipt(RuleSet::Season)
        cart.customer.orders += 1
        cart.receipt(RuleSet::Season)
      end
      mistakes
      puts carts.map(&:total).minmax.join(" .. "), carts.map(&:total).sort.map(&:to_s).join(" < ")
      puts Audit.instance.summary, "audit #{Audit.instance.size}, #{Audit.instance.map { |e| e[:rule] }.tally.max_by { |r, n| [n, r] }.join(" ")}"
      puts "made #{Item.made.sort.map { |k, n| "#{k}:#{n}" }.join(" ")}, money #{Money.interned}, rules tried #{RuleSet.evaluations}, shelf #{SHELF.size}"
      puts "trace #{$trace.tally.sort.map { |t, n| "#{t} x#{n}" }.join(", ")}; #{Attributes.users.join(" ")}"
    end

    def mistakes
      tries = {
        "word" => -> { RuleSet.define(:bad) { rule("x") { when_moon_full } } },
        "check" => -> { item("B-1").quantity = 1000 },
        "level" => -> { Customer.new(level: :tin) },
        "rate" => -> { Money[1, "YEN"].to("EUR") },
        "frozen" => -> { Money[1].instance_variable_set(:@cents, 2) },
        "compare" => -> { Money[1] < 3 },
        "new" => -> { Audit.new },
        "set" => -> { RuleSet::Nowhere }
      }
      tries.each do |name, try|
        try.call
        puts "#{name}: nothing raised"
      rescue StandardError => e
        puts "#{name}: #{e.class}#{e.is_a?(Rule::UnknownWord) ? ": #{e.message} (#{e.name})" : e.is_a?(ArgumentError) ? ": #{e.message}" : ""}"
      end
    end
  end
end

2.times { Till.main }
# Needs the standard library.
