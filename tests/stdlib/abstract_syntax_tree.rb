# RubyVM::AbstractSyntaxTree: nodes of the older parser, made from prism's; places, sources, and what it does not do.
require "pp"

def tree(node)
  return node.inspect unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)
  "(#{[node.type, *node.children.map { |child| tree(child) }].join(" ")})"
end
<<~'RUBY'.each_line(chomp: true) { |source| puts source, "  #{tree(RubyVM::AbstractSyntaxTree.parse(source).children[2])}" }
  foo
  foo()
  foo(1, *a, k: 2, &b)
  a.b; a&.b(1); a + 1; a[1]; -a; !a
  x = 1; y = x; @a = @b; @@c = @@d; $e = $f; G = H; A::B = 1; ::C
  a ||= 1; @b &&= 2; c += 3; d[1] += 4; e.f ||= 5; A::B ||= 6
  a, (b, *c), @d = 1, 2
  [1, 2.5, 3r, 4i, :s, "t", `u`, /v/i, nil, true, self, __LINE__]
  "a#{b}c#{d}" ; :"x#{y}"; /r#{z}/o
  {a: 1, **b}; []; {}
  if a then b elsif c then d else e end
  a unless b
  while a do b end; begin a end until b
  case a when 1, *b then c else d end
  case a; in [Integer => x, *] if x then y; in {k: 1, **nil} | C(1) then z; in [*, 1, *] then w; end
  a in {b: 1}; c => [d, *]
  begin a; rescue B, C => e then d; else f; ensure g end
  a rescue b
  def m(a, b = 1, *c, d, e:, f: 2, **g, &h) = a
  def self.m(...) = n(...)
  class A::B < C; d; end; module M; end; class << self; end
  ->(a; b) { a }; m { |a, (b, c), *| d }; m { _1 }; m { it }
  return 1, 2 if a and b and c or d
  for a in b do c end; alias a b; alias $a $b; undef a, b; defined?(a); END { a }
  a..b; (1...2); $1; $~; $&; yield_self; super; super(1)
  a =~ /b/; /c/ =~ d; if /e/ then f end
RUBY
node = RubyVM::AbstractSyntaxTree.parse("def a(b)\n  b + 1 # é\nend\n", keep_script_lines: true)
p node, node.source, node.children[2].children[1].children[2].source, node.script_lines, node.locations
pp RubyVM::AbstractSyntaxTree.parse("a = 1 + b")
p RubyVM::AbstractSyntaxTree.parse_file(__FILE__).type, RubyVM::AbstractSyntaxTree.parse("if a", error_tolerant: true).type
[-> { RubyVM::AbstractSyntaxTree.parse(1) }, -> { RubyVM::AbstractSyntaxTree.parse("1 +") }, -> { RubyVM::AbstractSyntaxTree.of(proc {}) }, -> { RubyVM::AbstractSyntaxTree.of(method(:tree)) }, -> { RubyVM::AbstractSyntaxTree.of("x") },
 -> { RubyVM::AbstractSyntaxTree::Node.new }, -> { RubyVM::AbstractSyntaxTree::Node.allocate }].each do |refused|
  p refused.call
rescue Exception => e
  p [e.class, e.message.lines.first.chomp]
end
p RubyVM::AbstractSyntaxTree.of("".method(:upcase)), RubyVM::AbstractSyntaxTree.respond_to?(:node_id_for_backtrace_location)
# Needs prism.
