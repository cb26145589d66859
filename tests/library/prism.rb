# Without --gc=stress. Prism: trees, tokens, comments, errors; options; what was dumped; sources that are too large.
require "prism"

def try
  yield.inspect
rescue StandardError, SyntaxError => e
  "#{e.class}: #{e.message}"
end

puts "-- trees"
result = Prism.parse("def foo(a, *r, k: 1, &b) = puts(:x, 'é', 1.5, 12345678901234567890, /a\#{b}/i) # c\n")
puts result.value.inspect.lines.first(6), result.value.statements.body[0].parameters.signature.inspect
call = result.value.statements.body[0].body.body[0]
p call.arguments.arguments.map { |n| [n.class, n.slice, n.location.start_column, n.location.start_character_column] }
p call.arguments.arguments.map { |n| n.respond_to?(:unescaped) ? n.unescaped : n.respond_to?(:value) ? n.value : nil }
p call.arguments.arguments[1].unescaped.encoding, call.arguments.arguments[1].unescaped.frozen?
p Prism.parse(":a; %s(); :\"b c\"").value.statements.body.map { |n| [n.value_loc&.slice, n.unescaped] }
p Prism.parse("a.b(1) { |x; y| _1 rescue 2 }").value.statements.body[0].block.locals
p Prism.parse("x = 1\ny = x").value.locals, Prism.parse("-0x1F; 1r; 2.5i; -3").value.statements.body.map(&:value)

puts "-- tokens and comments"
p Prism.lex("a = `x` + {b: 1} # c").value.map { |token, state| [token.type, token.value, state] }
tree, tokens = Prism.parse_lex("f(1)").value
p tree.class, tokens.map { |t, _| t.type }
p Prism.parse_comments("# a\n1 # b\n=begin\nc\n=end\n").map { |c| [c.class, c.location.slice] }
p Prism.parse("# frozen_string_literal: true\n1\n__END__\nx").then { |r| [r.magic_comments.map { |m| [m.key, m.value] }, r.data_loc.slice] }
p Prism.lex_compat("a = <<~X\n  b \#{c} d\nX\n").value.map { |t| t.first(3) }

puts "-- errors and warnings"
r = Prism.parse("def f(\n  1 +", filepath: "x.rb", line: 7)
p r.success?, r.errors.map { |e| [e.type, e.level, e.location.start_line] }
p Prism.parse("a = 1; if a = 2; end").warnings.map { |w| [w.type, w.level, w.message] }
p Prism.parse_success?("1"), Prism.parse_failure?("1 +")
puts try { Prism.parse("foo(", raise_error: true) }
puts try { Prism.parse("foo(", wrong: 1) }, try { Prism.parse(1) }, try { Prism.parse("1", version: "1.9") }
puts try { Prism.parse("1", scopes: [1]) }, try { Prism.parse("1", command_line: "z") }, try { Prism.parse_file("not/there.rb") }
p Prism.parse("yield a", scopes: [[:a]]).errors.map(&:type), Prism.parse("it", version: "3.3").value.statements.body[0].class

puts "-- encodings"
p Prism.parse("# encoding: iso-8859-1\n'\xE9'".b).value.statements.body[0].unescaped.then { |s| [s.encoding, s.bytes] }
p Prism.parse("'\u3042'.x", encoding: Encoding::UTF_8).value.statements.body[0].message_loc.start_code_units_column(Encoding::UTF_16LE)

puts "-- dumps"
dump = Prism.dump("def a(b) = [b, *c, 1, 2.0, 'x', :y] ")
p Prism.load("def a(b) = [b, *c, 1, 2.0, 'x', :y] ", dump).value.inspect == Prism.parse("def a(b) = [b, *c, 1, 2.0, 'x', :y] ").value.inspect
# No bytes are trusted: each is changed and cut in turn.
ends = Hash.new(0)
dump.bytesize.times do |i|
  [dump.byteslice(0, i), dump.dup.tap { |d| d.setbyte(i, 255) }, dump.dup.tap { |d| d.setbyte(i, 0) }, dump.dup.tap { |d| d.setbyte(i, d.getbyte(i) ^ 1) }].each do |bad|
    Prism.load("def a(b) = [b, *c, 1, 2.0, 'x', :y] ", bad)
    ends[:read] += 1
  rescue RuntimeError, TypeError, ArgumentError, NoMethodError, RangeError, EncodingError, NameError => e
    ends[:refused] += 1
  end
end
p ends.keys.sort, ends.values.sum == dump.bytesize * 4

puts "-- frozen"
f = Prism.parse("a + 'b' # c", freeze: true)
p f.frozen?, f.value.frozen?, f.comments.frozen?, f.value.statements.body[0].arguments.arguments[0].content_loc.frozen?, Ractor.shareable?(f.value)

puts "-- walks"
class Names < Prism::Visitor
  def initialize = @names = []
  attr_reader :names
  def visit_call_node(node)
    @names << node.name
    super
  end
end
p Names.new.tap { |v| Prism.parse("a.b { c(d) }").value.accept(v) }.names
p Prism::Pattern.new("CallNode[name: :b]").scan(Prism.parse("a.b; b; c").value).map(&:slice)
p Prism::StringQuery.new("foo?").method_name?, Prism::StringQuery.constant?("Foo"), Prism::StringQuery.local?("foo")
p Prism.parse_stream(Struct.new(:lines) { def gets(*) = lines.shift }.new(["a\n", "b\n", "__END__\n", "c("])).value.statements.body.size

def found(a) = a + 1
p Prism.find(method(:found)).slice, Prism.find(proc { 7 }).slice

puts "-- limits"
code = 'require "prism"; begin; Prism.parse("[" + "a," * 3_000_000 + "]"); rescue NoMemoryError => e; RubyVM::ARGV[0] << :refused; end'
out = RubyVM::Channel.new
RubyVM.new("limited", "-e", code, memory_limit: 96 << 20).start(out).join rescue puts($!.class)
out.close
p out.receive
begin
  vm = RubyVM.new("killed", "-e", 'require "prism"; RubyVM::ARGV[0] << 1; loop { Prism.parse("!" * 300_000 + "1") }').start(out2 = RubyVM::Channel.new)
  out2.receive
  sleep 0.2
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  vm.kill
  vm.join rescue p $!.class
  p Process.clock_gettime(Process::CLOCK_MONOTONIC) - began < 5
end
# Needs prism.
