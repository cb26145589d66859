require "yaml"
require "stringio"

def try = yield rescue "#{$!.class}: #{$!.message}"

# Layout of every style.
values = [nil, true, 1, -2.5, 1e20, Float::INFINITY, -Float::INFINITY, 2**70, :sym, :"a b", "", "a", "null", "~", "1", "1.5", "0x1f", "yes", "y", "n", " a", "a ", "x: y",
          "a #b", "#b", "- a", "-", "?", ": a", "'", "\"", "it's", "say \"hi\"", "a\tb", "a\nb", "a\n", "a\n\n", "\n", " a\nb\n", "a\n b\n", "a \nb", "é", "\u{1f389}", "\u0085",
          "\u2028", "a\u0001", "\\", "%x", "@x", "`x", "!x", "&x", "*x", "[x", "{x", "---", "--- a", "...", "<<", "=", "2020-01-02", "12:30", "12:30:45", "word " * 30,
          "x" * 100, "\xff\xfe".b, "multi\nline\n  indented\n\nend", [], {}, [[]], [{}], {1 => []}, [[1, [2]], 3], {"a" => {"b" => {"c" => [1, {"d" => 2}]}}},
          {[1, 2] => 3}, {{"a" => 1} => 2}, {"x" * 130 => 1}, {"a\nb" => 1}, {nil => nil}, {"" => ""}]
values.each do |v|
  puts v.to_yaml
  back = YAML.unsafe_load(v.to_yaml)
  puts "not the same: #{back.inspect}" unless back == v
end

# Options.
deep = {"list" => [1, [2, {"k" => "v"}]], "text" => "some words that are long enough to be folded somewhere, they say"}
puts YAML.dump(deep, indentation: 4), YAML.dump(deep, line_width: 20), YAML.dump(deep, line_width: -1), YAML.dump(deep, canonical: true), YAML.dump(deep, header: true)
puts YAML.dump("plain words that go on and on until they are folded", line_width: 20), try { YAML.dump(1, line_width: -2) }
puts YAML.dump_stream(1, "two", [3])
io = StringIO.new
p YAML.dump({"a" => 1}, io).equal?(io), io.string

# Objects.
Point = Struct.new(:x, :y)
class Tree
  attr_accessor :name, :parent, :children
end
t = Tree.new
t.name, t.children = "root", [Tree.new]
t.children[0].parent = t
class Upcase
  def encode_with(c) = c["up"] = "X"
  def init_with(c) = @up = c["up"]
end
class Words < Array; end
class Table < Hash; end
same = "shared"
objects = [Point.new(1, Point.new(2, 3)), 1..5, "a"..., /a+\/b/mi, 1r / 3, 2i, Time.utc(2020, 1, 2, 3, 4, 5.5r), Time.new(2020, 1, 2, 3, 4, 5, "+02:00"), t, Upcase.new, Words[1, 2],
           Table[1, 2], String, Comparable, Encoding::UTF_8, [same, same], ArgumentError.new("bad")]
objects.each do |o|
  text = YAML.dump(o)
  puts text
  p YAML.dump(YAML.unsafe_load(text)) == text
end
loop_ = []
loop_ << loop_
puts loop_.to_yaml
p YAML.unsafe_load(loop_.to_yaml).then { |a| a[0].equal?(a) }

# Reading.
text = <<~YAML
  # comment
  plain: some text
    that goes on

    and on
  single: 'it''s
    folded'
  double: "tab\\t \\x41\\u00e9\\U0001F389 \\
    joined"
  literal: |
    one
      two

    three
  folded: >-
    one
    two

    three
      four
    five
  keep: |+
    x

  strip: |-
    x
  indented: |2
      x
  numbers: [0, 0b11, 017, 0x1F, 1_000, "1", 1.5, 1e3, .5, -.inf, .nan, 1:30]
  words: [yes, no, on, off, true, null, ~, "yes"]
  anchors: &a {x: 1}
  alias: *a
  merged:
    <<: *a
    y: 2
  symbols:
  - :a
  - ":b"
  - ':c d'
  ? complex key
  : value
  empty:
  nested:
  - - 1
    - 2
  -
    a: 1
  flow: {a: [1, 2], b: {c: d}, e, f: g}
YAML
YAML.unsafe_load(text).each { |k, v| puts "#{k}: #{Marshal.dump(v).unpack1("H*").size} #{v.to_s.gsub(" => ", "=>")}" }
p YAML.load_stream("--- a\n--- b\n...\n---\n- c\n"), YAML.load(""), YAML.load("", fallback: 1), YAML.load("a: 1", symbolize_names: true).to_a, YAML.load("- a", freeze: true).frozen?
p YAML.load("d: 2020-01-02", permitted_classes: [Date])["d"].to_s, try { YAML.load("2020-01-02") }, try { YAML.load("--- !ruby/object:Tree {}") }, try { YAML.safe_load(":a") }
p try { YAML.safe_load("- :a", permitted_symbols: [:a], permitted_classes: [Symbol]) }, try { YAML.unsafe_load("--- !ruby/object:Nope {}") }
p YAML.parse("a: [1]").to_ruby.to_a, YAML.parse_stream("a\n--- b").children.size, YAML.parse("x").class, YAML.parse("")

# Errors.
["a: b: c", "a: `", "\"abc", "- [a\n- b", "%YAML 3.0\n--- a", "a: \x01b", "a: \xff b", "\tx: y", "{a: b", "!x!foo bar", "%FOO", "%TAG ! !\n%TAG ! !\n--- a", "- a\nb", "a: |0\n x",
 "'a\n--- b'", "\"\\q\"", "\"\\u12\"", "a\n- b", "- a\n  - b\n c", "[a, b", "&", "*", "? - a\n b", "k: |\n  a\n\t b", "x: - y", "!<a", "a: 'b' c", "]", "{,}", "%YAML 1\n---", "a: \xc3"].each do |bad|
  YAML.parse(bad)
  puts "#{bad.dump}: read"
rescue Psych::SyntaxError => e
  p [bad, e.message, e.file, e.line, e.column, e.offset, e.problem, e.context]
end
p try { YAML.load("a: [", filename: "some.yml") }

# Events, with their places.
class Log < Psych::Handler
  %w[start_stream start_document end_document alias scalar start_sequence end_sequence start_mapping end_mapping end_stream].each { |m| define_method(m) { |*a| p [m, *a] } }
  def event_location(*a) = print(a, " ")
end
parser = Psych::Parser.new(Log.new)
parser.parse("%YAML 1.1\n%TAG !e! tag:e.org,2000:\n--- !e!x &a\n- !!str é\n- *a\n- {k: >\n}\n...\n") rescue puts $!.message
parser.parse("--- !e &a\n- !!str é\n- *a\n- {k: v, ? x}\n- [a: b, !t 'c', \"d\"]\n- |\n  text\n-\n")
p parser.mark.to_a
parser.parse("\ufeffbom: 1".encode("UTF-16LE"))
parser.parse(StringIO.new("from: io"))

# An emitter by hand.
io = StringIO.new
e = Psych::Emitter.new(io)
e.canonical = false
e.indentation = 3
e.line_width = 30
e.start_stream(Psych::Nodes::Stream::UTF8)
e.start_document([1, 1], [["!e!", "tag:e.org,2000:"]], false)
e.start_mapping("anchor", "tag:e.org,2000:map", false, Psych::Nodes::Mapping::BLOCK)
e.scalar("key", nil, nil, true, false, Psych::Nodes::Scalar::ANY)
e.start_sequence(nil, nil, true, Psych::Nodes::Sequence::FLOW)
20.times { |i| e.scalar("item #{i}", nil, nil, true, true, Psych::Nodes::Scalar::ANY) }
e.end_sequence
e.scalar("folded", nil, nil, true, false, Psych::Nodes::Scalar::ANY)
e.scalar("some words to be folded at a width of thirty\n\nsecond\n", nil, nil, true, true, Psych::Nodes::Scalar::FOLDED)
e.scalar("tagged", nil, "tag:yaml.org,2002:str", false, false, Psych::Nodes::Scalar::PLAIN)
e.alias("anchor")
e.end_mapping
e.end_document(false)
e.end_stream
puts io.string
p try { Psych::Emitter.new(StringIO.new).scalar("a", nil, nil, true, false, 1) }
p try { e2 = Psych::Emitter.new(StringIO.new); e2.start_stream(1); e2.start_document([], [["a"]], true) }, try { Psych::Emitter.new(StringIO.new).alias(1) }
handle = Object.new
def handle.to_str = "!x!"
io = StringIO.new
e = Psych::Emitter.new(io)
e.start_stream(Psych::Nodes::Stream::UTF8)
e.start_document([1, 1], [[handle, "tag:example.com:"]], false)
e.scalar("a", nil, "tag:example.com:b", false, true, 1)
e.end_document(true)
e.end_stream
puts io.string
# Needs the standard library.
