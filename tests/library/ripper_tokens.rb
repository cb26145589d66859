# A subclass of Ripper gets each token once, in order, whether it is part of a node or not; a node's event comes after its tokens, and what a token more decides.
require "ripper"
class Tokens < Ripper
  attr_reader :told
  SCANNER_EVENTS.each { |event| define_method(:"on_#{event}") { |text| (@told ||= []) << "#{event} #{text.inspect} #{lineno}:#{column}"; text } }
  %i[def class module command if_mod assign].each { |event| define_method(:"on_#{event}") { |*| (@told ||= []) << "(#{event})"; event } }
end

def tokens(source, line = 1) = Tokens.new(source, "f", line).tap(&:parse).told

puts tokens(<<'RUBY')
# A comment.
module Foo # trailing
  # Doc of A.
  class A < B
    attr_reader :x, :y
    CONST = [1, 2, 3].freeze

=begin
much to say
=end
    def m(a, b = 1, *c, d: 2, &e)
      if a && b
        puts "hi #{a}", :sym
      elsif c then return nil
      else
        x.each { |y| y + 1 } if z
      end
    end

    def self.n; @v ||= {a: 1, "b" => %w[c d]}; end
  end
end
RUBY
puts "-- heredocs", tokens("p <<A, <<B, 1\nx \#{y} z\nA\nw\nB\nq\n")
puts "-- what comes first is told once", tokens("x = 1 # unused\n# last")
puts "-- empty", tokens("").inspect, tokens(" \n\n")
puts "-- line ends of another kind", tokens("a = 1\r\nb = 2\r\n")
puts "-- a byte order mark", tokens("\u{feff}a = 1\nb = 2\n")
puts "-- wide characters", tokens("é = 'ü' # ä\n'é'\n")
puts "-- data behind", tokens("x = 1\n__END__\nblah\n")
puts "-- from another line on", tokens("x = 1\n y = 2\n", 10)
puts "-- lines that lose their indentation", tokens("x(<<~A)\n  a\n   \#{y}\n  b\nA\n")
# What is told of a source with errors depends on how a parser goes on; nothing is told twice, nothing before the error is left out.
broken = tokens("a = 1\ndef b(\n  c = \nend\n").grep_v(/\A\(/)
p broken.grep_v(/end|nl "\\n" [34]/), broken.tally.select { |_, times| times > 1 }
p Tokens.new("1").respond_to?(:on_program), Tokens.new("1").respond_to?(:bounds)
# Who handles none of them gets what nodes are made of.
class Idents < Ripper
  def on_ident(name) = (puts "#{name} #{lineno}"; name)
end
Idents.new("a b, c { |d| } # e", "f", 7).parse
