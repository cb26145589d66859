# The order in which a subclass of Ripper is told of tokens and of nodes: lists begin when their first part is added, calls come before their blocks.
require "ripper"
class Order < Ripper
  attr_reader :told
  PARSER_EVENTS.each { |event| define_method(:"on_#{event}") { |*| (@told ||= []) << event.to_s; event } }
  SCANNER_EVENTS.each { |event| define_method(:"on_#{event}") { |text| (@told ||= []) << text.inspect; text } }
end
[
  "foo(1, 2)\nfoo 1, 2\n", "a, b = 1, 2\n", "x = [1, 2]\n", "y = \"a\#{b}c\"\n", "def m\n  digest.hash\nend\n", "def n(a, b)\n  a\nend\n", "x.each do |io|\n  io.y\nend\n",
  "foo(1) { |q| q }\n", "foo do\n  1\nend\n", "x = 1 if y\n", "a.b(1).c(2)\n", "a until b(1)\n", "case a\nwhen 1, 2 then 3\nend\n", "{ a: 1, \"b\" => 2 }\n", "%w[a b c]\n", "/\#{a}b/\n",
  "`ls \#{a}`\n", "class A < B\n  include C\nend\n", "->(a) { a }\n", "return 1, 2\n", "a[1] + b\n", "puts <<A\nx\nA\n", "begin\n  a\nensure\n  b\nend\n"
].each { |source| puts Order.new(source).tap(&:parse).told.join(" ") }
