# Branches and methods: kinds, places, numbers and counts.
require "coverage"
require "tmpdir"

SOURCE = <<~'RUBY'
  def conditions(x)
    if x
      1
    end
    if x then 1 else 2 end
    unless x
      3
    end
    unless x
      x ? 1 : 2
    else
      x&.to_s
    end
    5 if x
    6 unless x
    if x
    else
      7
    end
    if x
      1
    elsif x.nil?
      2
    else
    end
    if true then x ? 1 : 2 end
    if false
      x ? 1 : 2
    end
    8 if x&.itself && (x || nil)
  ensure
    9 if x
  end

  def loops(x)
    while x > 0
      x -= 1
    end
    x += 1 until x > 3
    while x > 10
    end
    begin
      x -= 1
    end while x > 0
    x += 1 while x < 3 && begin x.odd? ? true : x end
  end

  def cases(x)
    case x
    when 1 then x == 1 ? :a : :z
    when 2, 3
      :b
    when 4
    else
      x == 5 ? :c : :d
    end
    case
    when x == 1
      1
    end
    case x
    when *[5, 6]
    else
    end
    y =
      case x
      in 1
        :a
      in Integer => z if z > 1
        :b
      in Integer
      else
        :c
      end
    case y
    in Symbol
    end
  end

  def safe(x)
    x&.to_s
    x&.to_s&.size
    x&.then { |z| z }
    x&.instance_variable_set :@a, 1
    x&.foo = 1
    x&.bar ||= 2
  end

  def retried
    tries = 0
    begin
      tries += 1
      raise "no" if tries < 3
    rescue
      retry
    end
  end

  [nil, 1, false].each { |x| conditions(x) }
  loops(2)
  (1..6).each { |x| cases(x) }
  safe(nil)
  safe(Struct.new(:foo, :bar).new)
  retried

  class Places
    define_method(:made) { |x| x ? 1 : 2 }
    def self.of_the_class = 1
    class << self
      def opened; 2; end
      private def hidden = 3
    end
    alias renamed made
    attr_reader :plain
  end
  Places.of_the_class
  3.times { |i| Places.new.made(i.odd?) }
  Places.new.renamed(nil)
  module Refining
    refine String do
      def never = 1
    end
  end
RUBY

def shown(result)
  result.each do |kind, found|
    puts kind
    found.map { |key, value| "  #{key.inspect} => #{value.inspect}" }.then { |lines| kind == :branches ? lines : lines.sort }.each { |line| puts line }
  end
end

Dir.mktmpdir do |dir|
  file = File.join(File.realpath(dir), "source.rb")
  File.write(file, SOURCE)
  Coverage.start(branches: true, methods: true)
  load file
  shown(Coverage.peek_result[file])
  before = Coverage.result(stop: false, clear: true)[file]
  loops(1)
  after = Coverage.peek_result[file]
  p before[:branches].keys == after[:branches].keys, after[:branches].values.sum { |arms| arms.values.sum }, after[:methods].values.sum
  Coverage.suspend
  loops(1)
  Coverage.resume
  p Coverage.result[file] == after, Coverage.running?

  # Without them, and all of them.
  Coverage.start(lines: true)
  load file
  p Coverage.result[file].keys
  Coverage.start(:all)
  load file
  p Coverage.result[file].keys
  p %i[lines branches methods oneshot_lines eval].map { |mode| Coverage.supported?(mode) }, Coverage.supported?(:all)

  # Texts of evals.
  Coverage.start(branches: true, methods: true, eval: true)
  load file
  eval("2.times { |i| i == 0 ? 1 : 2 }\ndef evaluated = 1\nevaluated", TOPLEVEL_BINDING, "evaluated.rb", 1)
  result = Coverage.result
  shown(result["evaluated.rb"])
  p result[file][:branches] == before[:branches]
end
