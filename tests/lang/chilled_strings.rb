# Strings of literals and of Symbol#to_s are chilled: not frozen, but their first change warns.
$VERBOSE = false
short = Object.new
def short.write(*texts) = texts.join("").gsub(%r{\S*/(\w+\.rb)}, '\1').then { |t| $stdout.write(t) }
$stderr = short
Warning[:deprecated] = true

def change(what)
  s = yield
  print what, ": ", s.frozen?, "\n"
  s << "!"
  s << "?"
  p s
rescue FrozenError => e
  puts e.message
end

change("literal") { "a" }
change("character") { ?a }
change("word") { %w[a b][0] }
change("joined") { "a" "b" }
change("heredoc") { <<~X }
  text
X
change("file") { File.basename(__FILE__) }
change("clone") { "a".clone }
change("to_s") { "a".to_s }
change("itself") { "a".itself }
change("clone(freeze: false)") { "a".clone(freeze: false) }
change("clone(freeze: true)") { "a".clone(freeze: true) }
change("dup") { "a".dup }
change("+") { +"a" }
change("-") { -"a" }
change("freeze") { "a".freeze }
change("frozen later") { s = "a"; s.freeze; s }
change("String.new") { String.new("a") }
change("interpolated") { "a#{1}" }
change("interpolated symbol") { "#{:a}" }
change("key") { { "a" => 1 }.keys[0] }
change("key kept") { k = "a"; h = {}; h[k] = 1; h.keys[0] }
change("own key") { k = "a"; h = {}; h[k] = 1; k }
change("match") { s = "abc"; m = s.match(/b/); s << "d"; p m.pre_match, m.post_match, m.string; m.string }
change("symbol") { :abc.to_s }
change("id2name") { :abc.id2name }
change("name") { :abc.name }
change("String()") { String(:abc) }
change("join") { [:abc].join }
change("marshal") { Marshal.load(Marshal.dump("abc")) }
change("shareable") { Ractor.make_shareable("abc") }
p Ractor.shareable?("abc")

puts "== ways to change"
"a".replace("b")
"a"[0] = "b"
"a".upcase!
"a".sub!("x", "y")
"a".force_encoding("BINARY")
"a".instance_variable_set(:@a, 1)
"a".setbyte(0, 65)
"a".clear
[65].pack("C", buffer: "a")
s = "a"
def s.one = 1
p s.one
"a".singleton_class
eval(%q("a" << "b"), nil, "text", 7)

puts "== no change"
"a".upcase
"a" + "b"
"a" * 2
"a".sub("a", "b")
"a".hash
"a".method(:<<)
p(+"a" << "b")
p "a b".split.map { |x| x << "c" }

puts "== when"
Warning[:deprecated] = false
s = "a"
s << "b"
Warning[:deprecated] = true
p s << "c"
$VERBOSE = nil
s = "a"
s << "b"
$VERBOSE = false
p s << "c"
2.times { "a" << "b" }
class << Warning
  def warn(message, category: nil) = raise("#{category}: #{message}")
end
s = "a"
begin
  s << "b"
rescue => e
  puts e.message
end
p s
p s << "b"
