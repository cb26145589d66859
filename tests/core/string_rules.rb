# What String methods refuse, and where they stop.
def t
  r = yield
  p r
rescue => error
  puts "#{error.class}: #{error.message}"
end

t { "".freeze.send(:initialize) }
t { "".freeze.send(:initialize, capacity: 10) }
t { "".freeze.send(:initialize, encoding: "UTF-8") }

answers = Object.new
def answers.<=>(_) = @answer
def answers.answer(v) = (@answer = v; self)
[5, -5, 0, 2**100, -2.5, nil].each { |v| t { "foo" <=> answers.answer(v) } }

text = +"ax"
separator = Object.new
separator.define_singleton_method(:to_str) { text.freeze; "x" }
t { text.chomp!(separator) }

t { '"\\ca\\q\\a\\"\\#"'.undump }
t { '"\\x00\\u3042"'.undump }
t { '"\\x82\\u3042"'.undump }
t { "one\n\n\ntwo\n".each_line("", chomp: true).to_a }
t { "one\n\ntwo\n\n".each_line("", chomp: true).to_a }
t { "\uc548\ub155".byteslice(0, 4).grapheme_clusters }
t { "e\u0301\xffe\u0301".grapheme_clusters }

class Sub < String; end
sub = Sub.new("foo")
p (-sub).class, (-sub).frozen?, sub.frozen?
named = +"foo"
named.instance_variable_set(:@a, 1)
p (-named).instance_variables, named.frozen?

t { "hello".gsub("l", '\k<l>') }
t { "hello".sub("l", '\k<l') }
t { "abc".sub(/(?<x>b)/, '[\1\k<x>]') }
t { "abc".sub(/(b)/, '[\k<1>]') }
["b", " ", "", /b/].each { |by| s = +"abc abc"; t { s.split(by) { s << "x" } } }

jis = "\u3042".encode("ISO-2022-JP")
%i[rstrip strip upcase swapcase lstrip inspect].each { |m| t { jis.send(m) } }
sjis = "\x95\x5c".dup.force_encoding("Shift_JIS")
t { sjis.delete_prefix("\x95") }
t { sjis.delete_suffix("\xff") }
t { sjis.delete_prefix("\u3042") }

t { "\xe3\x80".scrub { "\xa4\xa2".dup.force_encoding("EUC-JP") } }
t { "\xe3\x80".scrub { "\x81" } }
t { "a".scrub("?") { "!" } }
t { s = "abc\xe3\x80"; s.scrub { s << "1"; "?" } }
t { jis.scrub == jis }

t { "%c" % 0x110000 }
t { "%c" % -1 }
t { "%c".dup.force_encoding("EUC-JP") % 0xc2 }
t { "%c".b % 256 }
