# `!` and `nil?` of plain objects: of their class, whatever happens to it while machine code runs.
class Plain; def initialize = (@a, @b = 1, 2); end
class Below < Plain; end
class Blank < BasicObject
  def method_missing(name, *) = "missing #{name}"
  def respond_to_missing?(*) = true
end
class Bare < BasicObject; end
module Empty
  def nil? = :module
end

def truth(o) = [!o, o.nil?, (o.nil? ? 1 : 2), (!o ? 3 : 4)]
def negated(o) = !o
def hot(o)
  all = {}
  300.times { all[truth(o)] = true }
  all.keys
rescue NoMethodError => e
  e.message[/\A[^#]*/]
end

single = Plain.new
subjects = { plain: Plain.new, below: Below.new, blank: Blank.new, object: Object.new, single: }
show = ->(what) { puts what; subjects.each { |name, o| p [name, hot(o)] } }
show.("as they are")
def single.nil? = :single
show.("one object")
class << single; remove_method :nil?; end
class Plain; def !() = :own; end
show.("not of a class")
class Plain; remove_method :!; end
class Below; def nil?() = 1; end
show.("nil? of a subclass")
class Below; undef_method :nil?; end
show.("undefined")
class Plain; private :nil?; end
show.("private")
class Plain; public :nil?; end
class Below; def nil?() = super; end
single.extend(Empty)
show.("extended")
class Plain; prepend Empty; end
show.("prepended")
p hot(Bare.new), 300.times.map { negated(Bare.new) }.uniq

module Refined
  refine Object do
    def nil? = :refined
  end
end
class Late; end
using Refined
def refined(o) = o.nil?
p 300.times.map { refined(Late.new) }.uniq, hot(Late.new)

# Redefined in the middle of a loop.
class Middle; end
def middle(o)
  found = []
  i = 0
  while i < 2000
    found << [!o, o.nil?] if i % 100 == 0
    !o
    class << o; def !() = :changed; end if i == 1000
    i += 1
  end
  found.chunk_while { |a, b| a == b }.map { |run| [run.first, run.size] }
end
p middle(Middle.new)
