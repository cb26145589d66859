# Procs and methods marked by ruby2_keywords are so in VMs made from this one's state.
KEEPS = proc { |*a| a[0] }.ruby2_keywords
PLAIN = proc { |*a| a[0] }
class Passes
  ruby2_keywords def foo(*a) = bar(*a)
  def bar(*a, **k) = [a, k]
  ruby2_keywords define_method(:made) { |*a| bar(*a) }
  alias again foo
end
SEE = -> { [KEEPS, PLAIN].map { |c| Hash.ruby2_keywords_hash?(c.call(k: 1)) } + [Passes.new.foo(1, k: 2), Passes.new.made(k: 3), Passes.new.again(k: 4)] }
p SEE.call
p RubyVM.fork { SEE.call }.join.value
p RubyVM.fork { RubyVM.fork { SEE.call }.join.value }.join.value
p Ractor.new { SEE.call }.value
# The mark that comes after a capture is in the next image, and not in the VMs of the one before.
vm = RubyVM.fork { SEE.call }
p vm.join.value[1]
PLAIN.ruby2_keywords
p SEE.call[1], RubyVM.fork { SEE.call[1] }.join.value
# One that the child marks is the child's.
OTHER = proc { |*a| a[0] }
see = -> { Hash.ruby2_keywords_hash?(OTHER.call(k: 1)) }
p RubyVM.fork { OTHER.ruby2_keywords; Hash.ruby2_keywords_hash?(OTHER.call(k: 1)) }.join.value, see.call
