# What templates of pack and unpack pad, cut off and refuse; choices from Arrays that change meanwhile.
def t
  r = yield
  p r
rescue => error
  puts "#{error.class}: #{error.message}"
end

t { ["fff"].pack("H4") + ["fff"].pack("h5") + ["f"].pack("H6") + ["f"].pack("H0") }
t { ["1"].pack("B9") + ["1111"].pack("b20") }
t { ["a" * 70].pack("u66") }
t { ["abc" * 50].pack("u1000") }
t { ["foo"].pack("u".encode("UTF-16BE")) }
t { "foo".unpack("u".encode("UTF-32LE")) }
t { "foo".unpack1("a".encode("UTF-16LE")) }
changed = +"CC"
object = Object.new
object.define_singleton_method(:to_int) { changed.clear; 1 }
t { [object, 2].pack(changed) }
changed = +"CC"
t { [object].pack(changed) }
t { found = []; ["\0".unpack("s") { |v| found << v }, found] }
t { found = []; ["\0a".unpack("s2") { |v| found << v }, found] }
t { "\0".unpack("s2") }

t { [1].to_enum.first(2**62) }
t { { a: 1 }.take(2**62) }
t { [1].first(2**62) }
[nil, 1, 2, 5, 20].each do |n|
  list = (0...10_000).to_a
  numbers = Object.new
  numbers.define_singleton_method(:rand) { |max| list.clear; max / 2 }
  t { list.sample(*n, random: numbers) }
end
