# Names of a program that is not in UTF-8: constants, methods, variables, classes.
euc = Encoding::EUC_JP
def show(s) = [s.encoding.to_s, s.b]

eval("def \xc2\xa1() = :euc".dup.force_encoding(euc))
eval("def \xc2\xa1() = :utf8")
p eval("\xc2\xa1()".dup.force_encoding(euc)), eval("\xc2\xa1()")
p method("\xc2\xa1".dup.force_encoding(euc)).name == method("\xc2\xa1").name

["\u00DE".encode("iso-8859-15"), "\u01F2", "\u1F88", "\u0370", "\u0391".encode("cp932"), "\uFF21".encode("cp932"), "\uFF21".encode(euc)].each do |name|
  m = Module.new
  before = m.const_defined?(name)
  missing = (m.const_get(name) rescue $!.class)
  m.const_set(name, 42)
  p [before, missing, eval("defined?(m::#{name})"), eval("m::#{name}"), m.const_get(name), m.constants.map { |c| show(c.to_s) }]
end
["\u00FE".encode("iso-8859-15"), "\u01F3", "\u1F80", "1A", "A-", "", "\uFF41".encode(euc)].each { |name| p((Module.new.const_set(name, 1) rescue $!.class)) }

c = eval("class R\xe9sum\xe9; self; end".dup.force_encoding("iso-8859-1"))
p show(c.name), Marshal.load(Marshal.dump(c.new)).class == c
eval("module Outer; class R\xe9; attr_accessor :v; end; end".dup.force_encoding("iso-8859-1"))
o = Outer.const_get("R\xe9".dup.force_encoding("iso-8859-1")).new
o.v = 3
p Marshal.load(Marshal.dump(o)).v, show(o.class.name)

eval("caf\xe9 = 5; p binding.local_variables.map { |n| n.to_s.b }, binding.local_variable_get(\"caf\xe9\")".dup.force_encoding("iso-8859-1"))
p eval("def kw(\xe9: 1) = \xe9; method(:kw).parameters.map { |k, n| [k, n.to_s.b] }".dup.force_encoding("iso-8859-1"))

# Messages have the encoding of the name that they show.
%w[euc-jp shift_jis utf-8].each do |e|
  name = "\u3042".encode(e)
  p [/a/.match("a").then { |m| (m[name] rescue show($!.message)) }, (sprintf("%1$<#{name}>d".encode(e), 1) rescue show($!.message)), (sprintf("%<#{name}>d".encode(e), {}) rescue show($!.message))]
end
p format("%<\u3042>d".encode(euc), { "\u3042".encode(euc).to_sym => 7 })
