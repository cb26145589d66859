$VERBOSE = false
def target(*args, **opts) = [args.size, opts.keys]
f = ->(*a) { target(*a) }
g = f.dup
p f.call(1, k: 2), f.ruby2_keywords.equal?(f), f.call(1, k: 2), g.call(1, k: 2)
h = proc { |*a| a.last }.ruby2_keywords
p Hash.ruby2_keywords_hash?(h.call(k: 1)), Hash.ruby2_keywords_hash?(h.call({k: 1}))
class Marked
  def a(*args) = args.last
  alias b a
  ruby2_keywords :a
end
p Hash.ruby2_keywords_hash?(Marked.new.a(k: 1)), Hash.ruby2_keywords_hash?(Marked.new.b(k: 1))
$stderr = Object.new.tap { |o| def o.write(*s) = s.each { |t| puts t[/Skipping set of ruby2_keywords flag for \w+/] } }
->(a) {}.ruby2_keywords
->(*a, k: 1) {}.ruby2_keywords
class Marked
  def c(a) = a
  ruby2_keywords :c
end
class Special
  def other = 1
  alias_method :initialize_copy, :other
  define_method(:initialize) {}
end
p Special.private_instance_methods(false).sort
