# Small things that CRuby's own tests look at.
# A clone has what the singleton class's singleton class has.
o = Object.new
def o.x = 1
o.singleton_class.singleton_class.define_method(:s) { :s }
p o.clone.singleton_class.s, o.clone.singleton_class.singleton_class.instance_methods(false)

p Rational.send(:convert, 6, 4), Complex.send(:convert, "1+2i"), (Rational.convert(1) rescue $!.class)
p Dir.chdir("/") { Dir.new("/tmp").chdir { |*a| a } }
p Dir.glob("/dev//null"), Dir.glob("//dev/null"), Dir.glob("/dev//nul*"), Dir.glob("/d*v//null"), Dir.glob("/"), Dir.glob("//")

r = Marshal.load(Marshal.dump(Range.allocate))
r.send(:initialize, 5, 6)
p r, r.frozen?, Marshal.load(Marshal.dump(1...3)), Marshal.load(Marshal.dump(nil..nil)).frozen?

# Variables of the data that marshal_load gets.
class Loaded
  def initialize(d) = @data = d
  def marshal_dump = @data
  alias marshal_load initialize
end
data = "text"
data.instance_variable_set(:@t, 42)
p Marshal.load(Marshal.dump(Loaded.new(data))).instance_variables
p Marshal.load("\x04\x08I:\x0bKernel\x06I:\x07@a\x06:\x07@be;\x00o:\x0bObject\x000")

p (begin; '"\u3042".force_encoding("UTF-16LE")'.undump; rescue RuntimeError; $!.message; end)

class Odd < StandardError
  def backtrace = :backtrace
end
begin
  raise Odd
rescue Odd => e
  p (begin; $@; rescue TypeError; $!.message; end), (begin; e.full_message; rescue TypeError; $!.message; end)
end

# Literals in a Regexp's `#{}` are pieces of its text: what is wrong with them is found when it is compiled.
p begin; eval('/#{"\\\\"}y/'); rescue SyntaxError; :syntax; end
p "ab"[/#{"a"}#{'b'}/]

h = { T_FOO: 1000 }
p ObjectSpace.count_objects(h).equal?(h), h[:T_FOO]

File.write("/tmp/odds_of_cruby_tests.txt", "0123456789")
File.open("/tmp/odds_of_cruby_tests.txt", "r:utf-8:utf-32le") do |f|
  p f.readline(4).bytesize, f.readline(3).bytesize, f.readline(9).bytesize
  p((f.readline("\0") rescue $!.message), f.read.bytesize)
end
File.delete("/tmp/odds_of_cruby_tests.txt")

words = Class.new do
  include Enumerable
  def each = %w[bar baz].each { |word| yield word }
end
found = []
words.new.grep(/(b.)/) { found << $1 }
p found, $1
words.new.grep_v(/z/) { found << $~ }
p found
keeps = Class.new do
  include Enumerable
  def each(&block) = $kept = block
end
def ended(keeps)
  keeps.grep(/x/) { $~ }
  nil
end
ended(keeps.new)
begin
  $kept.call("x")
rescue StandardError
  nil
end

"abc".sub("a", "")
p $~ == /a/.match("abc"), /a/.match("abc") == $~, $~ == /[a]/.match("abc")

["# \s\t\v encoding \s\t\v : \s\t\v ascii \s\t\v", "# -*- \s\t\v encoding \v:\v us-ascii -*-", "# coding \t \r  \v   :     \t \v    \r   ascii-8bit"].each do |line|
  p RubyVM::InstructionSequence.compile("#{line}\n__ENCODING__").eval
end

File.open("/tmp", File::RDWR | File::TMPFILE) { |f| p f.path, f.inspect.match?(/\A#<File:fd \d+>\z/) }
