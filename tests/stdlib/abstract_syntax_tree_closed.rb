# A program that is over too early is read as if what is open had ended behind its last word.
require "pp"

[
  "def m\n  m2\n", "def obj.m\n  m2\n", "begin\n  a = 1\n", "if cond\n  a = 1\n", "if cond\n  a = 1\nelse\n", "unless cond\n  a = 1\nelse\n", "while true\n  m\n",
  "case a\nwhen 1\n", "case a\nin {a: String}\n", "for i in ary\n  m\n", "class C\n", "module M\n", "m do\n  a\n", "m 1 do\n  a\n", "def a\n  if b\n    c\n",
  "\u{feff}nil"
].each { |source| PP.pp(RubyVM::AbstractSyntaxTree.parse(source, error_tolerant: true), $stdout, 80) }

code = "__ENCODING__".encode("EUC-JP")
p [false, true].map { |keep| RubyVM::AbstractSyntaxTree.parse(code, keep_script_lines: keep).children[2].children }
["in a:, **b", "in {a:, **b}", "in C(a:, b: 1, **b)", "in a:, **nil", "in {a: 1, b:}", "in {a: 1, **}", "in **b"].each do |pattern|
  PP.pp(RubyVM::AbstractSyntaxTree.parse("case x\n#{pattern}\nend").children[2].children[1].children[0], $stdout, 200)
end
# Needs prism.
