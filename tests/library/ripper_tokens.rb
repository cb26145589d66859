# A subclass of Ripper gets each token once, in order, whether it is part of a node or not; a node's event comes after its tokens, and what a token more decides.
require "ripper"
class Tokens < Ripper
  attr_reader :told
  SCANNER_EVENTS.each { |event| define_method(:"on_#{event}") { |text| (@told ||= []) << "#{event} #{text.inspect} #{lineno}:#{column}"; text } }
  %i[def class module command if_mod assign].each { |event| define_method(:"on_#{event}") { |*| (@told ||= []) << "(#{event})"; event } }
end

def tokens(source) = Tokens.new(source).tap(&:parse).told

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
# Who handles none of them gets what nodes are made of.
class Idents < Ripper
  def on_ident(name) = (puts name; name)
end
Idents.new("a b, c { |d| } # e").parse
