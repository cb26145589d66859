def show
  yield
rescue Exception => e
  print e.full_message(highlight: false), "\n"
end

class Foo
  attr_accessor :bar
  BAZ = 1
  def set
    @@counter = 1
    @first_name = 1
  end
  def use = first_name
  def use2 = @@countr
end
foo = Foo.new
# The highlight.
show { 1.time {} }
show { foo.bra = 1 }
show { nil[42] = 1 }
show { nil + 1 }
show { 1 + nil }
show { if 1 < nil then 2 end }
show { foo.bar += 1 }
show { x = nil; x += 1 }
show { {a: 1}[:b] += 1 }
show { "あい".foos }
show { foo
  .nothing(1) }
show { foo&.zork }
show { [1, 2].first("x") }
show { raise ArgumentError, "own" }
show { eval("nil.foos") }
def add(a, b) = a
show { add(1) }
def kw(a:) = a
show { kw(c: 1, a: 1) }
show { nil.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa }
# Suggestions.
show { [1, 2].frist }
show { Foo::BAX }
show { Sting }
first_name = 1
show { frist_name }
show { foo.set; foo.use }
show { foo.use2 }
show { {foo: 1, bar: 2}.fetch(:fo) }
show { {"foo" => 1}.fetch(:foo) }
show { case {foo: 1}; in {fooo: 1}; end }
puts(begin; nil.sizes; rescue => e; e.detailed_message(highlight: true).inspect; end)
puts(begin; [].frist; rescue => e; e.detailed_message(highlight: true).inspect; end)
puts(begin; [].frist; rescue => e; e.detailed_message(did_you_mean: false, error_highlight: false); end)
p ErrorHighlight.spot(begin; 1.time; rescue => e; e; end).except(:script_lines)
p DidYouMean::SpellChecker.new(dictionary: %w[email fail eval]).correct("meail")
p DidYouMean::Levenshtein.distance("a", "bc"), DidYouMean::JaroWinkler.distance("henka", "henkan").round(4)
begin
  [].frist
rescue => e
  p e.message, e.backtrace, e.backtrace_locations.map(&:lineno), e.instance_variables
  e.set_backtrace(["x:1"])
  puts e.full_message(highlight: false)
end
class Own < StandardError
  include DidYouMean::Correctable
  def corrections = ["own"]
end
show { raise Own, "mine" }
