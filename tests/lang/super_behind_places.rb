# `super` in a method of a module that stands twice among the ancestors goes on behind the place at which the method was found, under another name, too.
module Last
  def told = [:last]
end

module First
  def told = [:first]
end

module Between
  def told = [:between, *super]
end

class Above
  include First
end

class Below < Above
  include Last
  include Between
end

below = Below.new
p below.told

class Above
  include Between
  alias named told
  alias_method :named_again, :named
end

p Below.ancestors.take(6), below.told, below.named, below.named_again, below.public_send(:named), below.method(:named).call, Above.new.named

below.singleton_class.include(Module.new { def named = [:own, *super] })
p below.named
def below.told = [:singleton, *super]
p below.told, below.named

# A class names what it has prepended itself.
class Names < Above
  prepend Between
  def told = [:names, *super]
  alias renamed told
end
p Names.new.renamed, Class.new(Names) { include Last; prepend Between }.new.renamed
