# Reopening core classes, redefining operators, removing methods, prepending and refining stay in one VM.
require_relative "support/pair"
pair(<<~'RUBY')
  class Integer
    def own = self * $me
    alias_method :plus, :+
    if $me == 1
      def +(other) = plus(other).plus(1000)
    end
  end
  class Array
    remove_method :bsearch if $me == 2
  end
  class String
    prepend(Module.new { def upcase = "#{super()} #{$me}" })
  end
  def top = me_is
  self.class.send(:define_method, :me_is) { me }
  both.()
  sums = (1..3).map { |i| i + 1 }
  has_bsearch = [1].respond_to?(:bsearch)
  class Integer
    alias_method :+, :plus
  end
  out << [5.own, sums, has_bsearch, "a".upcase, top]
RUBY
p 5.respond_to?(:own), 1 + 1, [1, 2].bsearch { true }, "a".upcase, respond_to?(:top, true)
