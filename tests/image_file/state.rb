# A program's state in a file, and processes that start from it.
require "tmpdir"
EXE = File.readlink("/proc/self/exe")

PROGRAM = <<~'RUBY'
  require "set"
  require "stringio"
  require "strscan"
  class Animal
    NAME = "animal"
    @count = 3
    @@all = [:cat]
    class << self
      attr_accessor :count
      def all = @@all
    end
    attr_reader :name
    def initialize(name) = @name = name
    def to_s = "#{self.class.name}(#{@name})"
    def fail! = raise(ArgumentError, "no #{@name}")
    protected def secret = 1
    private def hidden = 2
    def kw(a, b = 2, *r, k:, o: 5, **rest, &blk) = [a, b, r, k, o, rest]
  end
  module Loud
    def to_s = super.upcase + "!"
  end
  class Dog < Animal
    prepend Loud
    include Comparable
    def <=>(other) = name <=> other.name
    alias bark to_s
    define_method(:twice) { |n = 2| name * n }
    undef_method :secret
  end
  class String
    def shout = upcase + "!"
  end
  class Integer
    alias old_plus +
    def half = self / 2
  end
  module Refined
    refine String do
      def refined = "refined #{self}"
    end
  end
  class Key
    attr_reader :a
    def initialize(a) = @a = a
    def hash = @a.hash
    def eql?(other) = other.is_a?(Key) && @a == other.a
  end
  Point = Struct.new(:x, :y) do
    def sum = x + y
  end
  Size = Data.define(:w, :h)
  COUNT = begin
    n = 0
    [-> { n += 1 }, -> { n }]
  end
  X = "shared"
  PAIR = [X, X]
  CYCLE = [1]
  CYCLE << CYCLE
  FROZEN = [1, "two", :three, 4.5, nil, {"k" => ["v"].freeze}.freeze].freeze
  HASHES = {
    strings: (1..40).to_h { |i| ["key#{i}", i] },
    keys: {Key.new("a") => 1, Key.new("b") => 2},
    arrays: {[1, "x"] => :arr, [2.5, nil] => :arr2},
    structs: {Point.new(1, 2) => :pt},
    mixed: {1 => :int, 2.5 => :float, nil => :nil, :sym => :sym, "str" => :str, 2**70 => :big, Animal => :cls, String => :scls, 1.0 => :one},
    identity: {}.compare_by_identity.tap { |h| h[X] = 1; h["other"] = 2; h[Dog] = 3 },
    default: Hash.new { |h, k| h[k] = k * 2 },
    frozen_keys: {Key.new("f").freeze => 1}.freeze,
  }
  SET = Set[1, "a", Key.new("s")]
  TIME = Time.utc(2024, 2, 29, 12, 30, 15.5r)
  LOCAL = Time.new(2024, 2, 29, 12, 30, 15, "+05:30")
  RE = /(?<year>\d+)-(\w+)/ix
  NUMBERS = [2**100, -(3**77), 3r / 7, Complex(1, 2.5), 1e300, -0.0, Float::INFINITY, 2**62 - 1, -2**62, 2**62]
  STRINGS = ["caf\u00e9", "\xff\xfe".b, "sjis \x82\xa0".dup.force_encoding("Shift_JIS"), "utf16".encode("UTF-16LE"), "x" * 1000, ""]
  OBJ = Object.new
  def OBJ.only = "singleton of #{self.class}"
  OBJ.instance_variable_set(:@iv, [OBJ])
  ID = OBJ.object_id
  $global = {list: [1, 2]}
  alias $other $global
  UNBOUND = Animal.instance_method(:to_s)
  BOUND = Dog.new("rex").method(:twice)
  SYM_PROC = :upcase.to_proc
  COMPOSED = SYM_PROC >> ->(s) { s + "?" }
  CURRIED = ->(a, b, c) { a + b + c }.curry[1]
  RANGES = [1..5, "a"..."e", (1..), nil..3]
  IO_STRING = StringIO.new("line1\nline2\n").tap(&:gets)
  SCANNER = StringScanner.new("foo bar").tap { |s| s.scan(/\w+/) }
  MUTEX = Mutex.new
  QUEUE = Queue.new.tap { |q| q << 1 << [2] }
  ENUM = [10, 20, 30].each_slice(2)
  LAZY = (1..).lazy.map { |x| x * 3 }
  ERROR = begin
    Animal.new("kit").fail!
  rescue => e
    e
  end
  RAND = Random.new(42).tap(&:rand)
  MATCH = "2024-feb".match(/(\d+)-(?<m>\w+)/)
  BINDING = begin
    local = 5
    binding
  end
  def once = /a#{1}/o
  once
  Thread.current[:local] = "tl"
  at_exit { puts "at_exit of the maker" }
  autoload :Later, File.join(__dir__, "later.rb")
  def top_level = "top #{__FILE__ == $made} #{__LINE__}"
  $made = __FILE__
  FRESH = "literal".then { |s| s.frozen? }
  def literal = "lit"
RUBY

USE = <<~'RUBY'
  d = Dog.new("rex")
  puts d, d.bark, d.twice, d.twice(3), Dog.ancestors.first(4).inspect, Animal.count, Animal.all.inspect, Animal::NAME
  p (d.secret rescue $!.class), (d.hidden rescue $!.class), Dog.new("a") < Dog.new("b")
  p d.kw(1, k: 2), (d.kw(1) rescue $!.message), Animal.instance_method(:kw).parameters
  p "x".shout, 10.half, 3.old_plus(4), 1 + 2
  p eval("using Refined; 'a'.refined")
  p COUNT[0].(), COUNT[0].(), COUNT[1].()
  p PAIR[0].equal?(PAIR[1]), X.equal?(PAIR[0]), CYCLE[1].equal?(CYCLE)
  PAIR[0] << " more"
  p X, FROZEN, FROZEN.frozen?, FROZEN.last.frozen?, (FROZEN << 1 rescue $!.class)
  h = HASHES
  p h[:strings]["key7"], h[:strings].size, h[:strings].delete("key1"), h[:strings]["key1"]
  p h[:keys][Key.new("a")], h[:keys][Key.new("b")], h[:keys][Key.new("c")]
  p h[:arrays][[1, "x"]], h[:arrays][[2.5, nil]], h[:structs][Point.new(1, 2)]
  p h[:mixed].values_at(1, 2.5, nil, :sym, "str", 2**70, Animal, String, 1.0)
  p h[:identity][X], h[:identity]["other".dup], h[:identity][Dog]
  p h[:default][4], h[:default], h[:frozen_keys][Key.new("f")], h[:frozen_keys].frozen?
  p SET.include?("a"), SET.include?(Key.new("s")), SET.include?(2), SET.size
  p TIME, LOCAL, TIME.subsec, LOCAL.utc_offset
  p RE, RE.match("2024-feb")[:year], RE.options, RE.frozen?
  p NUMBERS
  p STRINGS.map { |s| [s.encoding, s.bytesize, s.valid_encoding?, s.ascii_only?] }, STRINGS[0]
  p OBJ.only, OBJ.instance_variable_get(:@iv)[0].equal?(OBJ), OBJ.object_id == ID, Object.new.object_id == ID
  p $global, $other.equal?($global)
  p UNBOUND.bind_call(d), BOUND.call(2), SYM_PROC.("a"), COMPOSED.("b"), CURRIED[2][3]
  p Point.new(3, 4).sum, Point.members, Size.new(w: 1, h: 2), Size.new(1, 2) == Size.new(w: 1, h: 2)
  p RANGES, RANGES.map(&:frozen?)
  p IO_STRING.gets, IO_STRING.gets, SCANNER.rest, SCANNER.scan(/ /), SCANNER.scan(/\w+/)
  p MUTEX.locked?, MUTEX.synchronize { 1 }, QUEUE.size, QUEUE.pop, QUEUE.pop
  p ENUM.to_a, ENUM.size, ENUM.next, LAZY.first(3)
  p ERROR, ERROR.backtrace.map { |l| l[/\d+:in .*/] }
  p RAND.rand == Random.new(42).tap(&:rand).rand, RAND.seed, MATCH[:m], MATCH.pre_match
  p BINDING.local_variable_get(:local), BINDING.eval("local + 1"), once.equal?(once), once
  p Thread.current[:local], Object.autoload?(:Later).class, Later
  p require("set"), require("stringio"), require("strscan")
  puts top_level
  begin
    d.fail!
  rescue => e
    p e.message, e.backtrace[0][/\d+:in .*/]
  end
  p literal.equal?(literal), literal
  p ObjectSpace.each_object(Class).count { |c| c.name == "Dog" }, Animal.subclasses, Object.const_source_location(:Dog).last
  p ARGV, $0 == "-e", defined?(DATA)
  class Dog
    def bark = "changed"
  end
  p d.bark
RUBY

Dir.mktmpdir do |dir|
  made, file = "#{dir}/made.rb", "#{dir}/state.image"
  File.write("#{dir}/later.rb", "Later = 'loaded later'\n")
  File.write(made, PROGRAM + "\nRubyVM::Image.capture.save(ARGV[0])\nputs 'saved'\n")
  run = ->(*args) { IO.popen([{"RUBYOPT" => nil}, EXE, *args, err: [:child, :out]], &:read) }
  puts run.(made, file)
  p Dir.children(dir).sort
  whole = run.("--image", file, "-e", USE, "one", "two")
  puts whole
  # Each start begins anew, in VMs of a process that made none of it, too.
  p run.("--image=#{file}", "-e", USE, "one", "two") == whole
  File.write("#{dir}/use.rb", "p $0 == __FILE__, Dog.new('file').to_s, $PROGRAM_NAME == $0, DATA.read\n__END__\ntail\n")
  puts run.("--image", file, "#{dir}/use.rb")
  puts IO.popen([EXE, "--image", file, "-"], "r+") { |io| io.write("p Dog.new('in').to_s"); io.close_write; io.read }
  puts run.("-e", <<~'RUBY', file)
    i = RubyVM::Image.load(ARGV[0])
    vms = 6.times.map { |n| i.spawn(n) { |x| COUNT[0].(); [x, Dog.new("d#{x}").to_s, HASHES[:keys][Key.new("b")], COUNT[1].(), HASHES[:strings].size] } }
    vms.each { |v| p v.value }
    p defined?(Dog)
    i.spawn { RubyVM.fork { [Dog.new("fork").to_s, HASHES[:keys][Key.new("a")], SET.include?(Key.new("s"))] }.value }.value.then { |v| p v }
    p i.size > 100
  RUBY
end
