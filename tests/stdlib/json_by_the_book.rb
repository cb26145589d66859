# Keys, numbers, depths and errors of json, as its own tests ask for them.
require "json"
def t
  r = yield
  r.is_a?(String) ? puts(r) : p(r)
rescue JSON::JSONError, TypeError, ArgumentError, EncodingError, FrozenError => e
  puts "#{e.class}: #{e.message}"
end

# Numbers without an exponent where the digits are near the point.
[1e15, 1e14, 1234567890123456.0, 123456789012345.6, 1e-5, 1e-7, 1e-10, 1.5e-9, -2.5e-9, 1e100, 5e-324, 0.1, -0.0, 0.0, 100.25, 1e22, 12345.678e-12, 1111111111111111.1].each { |f| t { JSON.generate(f) } }

class Word < String
  def to_s = "by to_s"
end
class Loud < String
  def to_s = self
  def to_json(*) = '"loud"'
end
class Broken < String
  def to_s = false
end
class Odd
  def to_s = 5
end
t { JSON.generate(Word.new("w") => 1) }
t { JSON.generate([Word.new("w")]) }
t { JSON.generate(Loud.new("w") => 1) }
t { JSON.generate(Broken.new("w") => 1) }
begin
  JSON.generate(Odd.new => 1)
rescue TypeError => e
  p e.class
end
t { JSON.generate({ 1 => 2 }, strict: true) }
t { JSON.generate(Object.new, strict: true) }
t { :hello.to_json(strict: true) }

# Depths.
depth = Object.new
def depth.to_json(state) = JSON::State.from_state(state).depth.to_s
state = JSON::State.new
t { state.generate([[depth]]) }
t { state.generate(depth: depth) }
t { state.depth }
deep = []
deep << deep
t { JSON.generate(deep) }
t { JSON.generate([[[]]], max_nesting: 2) }
t { JSON.generate([[{}]], max_nesting: 3) }
t { JSON.dump([[[]]], 2) }

# Texts that are no UTF-8, and who is to blame.
["\xff", "\xff".b, "\x80\xff".dup.force_encoding("euc-jp")].each do |bad|
  JSON.generate({ foo: bad })
rescue JSON::GeneratorError => e
  p e.message, e.cause.class, e.invalid_object == bad
end
calls = []
coder = JSON::Coder.new { |o, key| calls << o; [o].pack("m") }
t { coder.dump("\xff" => "\xfe") }
p calls
t { JSON::Coder.new { |o| o.bytes }.dump("\xff" => 1) }
t { JSON::Coder.new { 42 }.dump(Object.new => 1) }
t { JSON.parse("[\"\x80\"]".dup.force_encoding("us-ascii")) }

# Escapes.
['"\\x15"', '"\\017"', %q("\\'"), %("line\\\nbreak"), '"\\ "', '"\\ud800"', '"\\uD800\\u0041"', '"\\uD800____"', '"\\u12"', '"\\ud83d\\ude00"', '"\\/\\"\\\\"'].each { |text| t { JSON.parse(text) } }
t { JSON.parse("ab" + "\u3042" * 20) }
t { JSON.parse("a" + "\u3042" * 20) }

# Keys come by `on_load`, too, and again.
seen = []
t { JSON.load('{"foo": [1, "x"], "bar": {"baz": null}}', proc { |o| seen << o; o }) }
p seen
t { JSON.load('{"a": 1, "a": 2}', ->(o) { o == "a" ? :key : o }, allow_duplicate_key: false) }
t { JSON.parse('{"a": 1, "a": 2}', allow_duplicate_key: false, symbolize_names: true) }
t { JSON.parse('{"foo": ["bar"]}', freeze: true).then { |h| [h.keys[0].equal?(-"foo"), h["foo"][0].equal?(-"bar")] } }

# Options.
t { JSON.load('{"foo": NaN}', allow_nan: true)["foo"].nan? }
t { JSON.unsafe_load('{"foo": NaN}', allow_nan: true)["foo"].nan? }
t { JSON.generate([1, { a: 2 }], array_nl: nil, indent: nil, object_nl: nil, space: nil, space_before: nil) }
t { JSON::State.new(space: " ").to_h.slice(:space, :indent, :depth, :buffer_initial_length, :as_json) }
frozen = JSON::State.new.freeze
[-> { frozen.indent = 1 }, -> { frozen.configure(max_nesting: 1) }, -> { frozen.as_json = nil }].each do |change|
  change.call
rescue FrozenError => e
  p e.class
end
shy = Class.new { def to_str = nil; def to_json(*) = "[]" }.new
t { JSON[shy] }
t { JSON(shy) }
t { JSON::Ext::Parser::Config.new({ symbolize_names: true }).parse('{"a": 1}') }
