require "json"
# What json 2.18 says; most of it has other words, or none, in the json of Ruby 3.1.
def t
  p yield
rescue Exception => e
  puts "#{e.class}: #{e.message}"
end

t { JSON.parse('{"a":[1,2.5,-3,1e3,true,false,null,"x\u00e9\n\ud83d\ude00"],"b":{"c":12345678901234567890}}') }
["", "{", "[1,", '{"a" 1}', "nope", "nul", "[1 2]", '{"a":1 "b"}', "[01]", "[-]", "[2.]", '["a', "[\"a\nb\"]", '["\u12"]', "NaN", "[1]x", "// c\n[1, /* x */ 2]", "[1,]", "{\"a\":1,}", "\xff", '["\q"]', "  "].each { |s| t { JSON.parse(s) } }
t { JSON.parse(nil) }
t { JSON.parse("[NaN,Infinity,-Infinity]", allow_nan: true) }
t { JSON.parse("[1,]", allow_trailing_comma: true) }
t { JSON.parse("["*101 + "]"*101) }
t { JSON.parse("["*101 + "]"*101, max_nesting: 0).flatten }
t { JSON.parse('{"a":1,"b":{"c":2}}', symbolize_names: true) }
t { JSON.parse('{"a":1,"b":[{"c":2}]}', freeze: true).then { |h| [h.frozen?, h["b"].frozen?, h["b"][0].frozen?] } }
require "ostruct"
t { JSON.parse('{"a":{"b":1}}', object_class: OpenStruct).a.b }
t { JSON.generate({"a"=>1, :b=>[nil,true,1.5,"é\n\"\\/\u2028\x7f"], 3=>{}}) }
t { JSON.generate("é😀/\u2028", ascii_only: true) }
t { JSON.generate("é😀/\u2028", script_safe: true) }
t { JSON.generate(Float::NAN) }
t { JSON.generate("\xff") }
t { JSON.generate(Object, strict: true) }
t { puts JSON.pretty_generate({"a"=>[1,{"b"=>[]}],"c"=>{}}) }
class Foo; def to_json(*a) = {foo: 1}.to_json(*a); end
t { JSON.generate([Foo.new, {x: Foo.new}]) }
t { puts JSON.pretty_generate([Foo.new, {x: Foo.new}]) }
t { [1,2,nil].to_json }
t { "abc".to_json + :a.to_json + nil.to_json + 1.5.to_json + {a: 1}.to_json }
t { JSON.dump([1]) }
t { JSON.load("") }
t { JSON.load("[1,{\"a\":2}]", ->(x){ p [:v, x]; x }) }
require "stringio"
t { io = StringIO.new; JSON.dump({a: 1}, io); io.string }
t { JSON::Coder.new { |o| o.to_s }.dump([Object, :a, 1r]) }
t { a=[]; a << a; JSON.generate(a) }
t { JSON.generate(1=>2, nil=>3) }
t { JSON.generate(JSON::Fragment.new("[1]")) }
t { JSON[ "[1]" ] }
t { JSON.parse('{"a":1,"a":2}') }
t { JSON.parse('{"a":1,"a":2}', allow_duplicate_key: false) }
t { JSON.parse("[1.5]", decimal_class: Rational) }
t { JSON.generate("x".encode("UTF-16LE")) }
t { [1e20, 1e16, 1e15, 0.0001, 1e-5, 100.0].to_json }
# Needs the standard library.
