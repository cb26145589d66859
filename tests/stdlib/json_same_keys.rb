# Keys of a Hash that have the same text in JSON.
require "json"
def t = yield rescue "#{$!.class}: #{$!.message}"
HASH = { "a" => 1, a: 2 }
p t { JSON.generate(HASH) }, t { JSON.generate(HASH, allow_duplicate_key: true) }
p t { JSON.generate(HASH, allow_duplicate_key: false) }, t { JSON.generate([{ x: HASH }], allow_duplicate_key: false) }
p t { JSON.generate({ 1 => 1, "1" => 2 }, allow_duplicate_key: false) }, t { JSON.generate({ a: 1, "b" => 2, 3 => 4 }, allow_duplicate_key: false) }
p t { JSON::Coder.new(allow_duplicate_key: false).dump(HASH) }
p t { JSON.pretty_generate(HASH, allow_duplicate_key: false) }
state = JSON::State.new(allow_duplicate_key: false)
p state.to_h[:allow_duplicate_key], JSON::State.new.to_h.key?(:allow_duplicate_key)
$stderr = $stdout
Warning[:deprecated] = true
$VERBOSE = false
def Warning.warn(text, category: nil) = puts(text[/detected.*/m], category.inspect)
p JSON.generate(HASH)
