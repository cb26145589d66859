# Ripper: tokens, trees and events of what has been the same for years.
require "ripper"

SOURCE = <<'RUBY'
class A < B
  def c(d, e = 1, *f, g: nil)
    x = "a#{d}b" + :sym.to_s
    [1, 2.5].each { |i| puts i unless i > 1 }
  end
end
RUBY

puts "-- tokens"
Ripper.lex(SOURCE).each { |pos, event, text, state| puts "#{pos.inspect} #{event} #{text.inspect} #{state}" }
p Ripper.tokenize("a = <<X\nb\nX\nc"), Ripper.tokenize("%w[a b] # c"), Ripper.tokenize("x ? /y/i : 'z'")

puts "-- trees"
p Ripper.sexp(SOURCE)
p Ripper.sexp_raw("a.b(1) { |c| c + 1 }")
p Ripper.sexp("if a then b elsif c; d else e end"), Ripper.sexp("begin; x; rescue E => e; y; ensure; z; end")
p Ripper.sexp("case a when 1, 2 then b end"), Ripper.sexp("a, (b, *c) = 1, 2"), Ripper.sexp("foo ="), Ripper.sexp("->(a) { a }")

puts "-- events"
class Calls < Ripper
  attr_reader :seen
  def initialize(*)
    super
    @seen = []
  end

  def on_call(receiver, _dot, name) = @seen << [:call, lineno, receiver, name]
  def on_ident(text) = text
  def on_vcall(name) = name
  def on_comment(text) = @seen << [:comment, text.chomp, lineno, column]
end
calls = Calls.new("a.b # note\nc.d\n", "f.rb").tap(&:parse)
p calls.seen, calls.error?, calls.filename

class Shout < Ripper::Filter
  def on_default(_event, text, out) = out << text
  def on_ident(text, out) = out << text.upcase
end
p Shout.new("foo(bar) + 1").parse(+"")
p Ripper::Lexer.new("a + b").scan.map { |t| [t.pos, t.event, t.tok] }
p Ripper::SCANNER_EVENTS.size > 50, Ripper::PARSER_EVENTS.include?(:method_add_block), Ripper::EXPR_BEG, Ripper.lex_state_name(Ripper::EXPR_BEG | Ripper::EXPR_LABEL)
p Ripper.slice("<<HERE\nstring\nHERE", "heredoc_beg .*? nl $(.*?) heredoc_end", 1)
line = +"   a"
p Ripper.dedent_string(line, 2), line
# Needs prism.
