# Finalizers at the end of the program.
$VERBOSE = false
def Warning.warn(text, **) = puts(text.lines.first.sub(/^[^ ]*warning/, "warning").sub(/#<.*/, ""))
o = Object.new
ObjectSpace.define_finalizer(o, proc { |id| puts "first: #{id.class}"; ObjectSpace.define_finalizer($other = +"other", proc { puts "defined in the first"; exit 5 }) })
$keep = [+"x", Object.new]
ObjectSpace.define_finalizer($keep[0], proc { exit })
f = proc { puts "once" }
p ObjectSpace.define_finalizer(q = Object.new, f)[1].equal?(f)
p ObjectSpace.define_finalizer(q, f.dup)[1].equal?(f)
class Holder
  def initialize
    ObjectSpace.define_finalizer(self, proc { puts "held" })
  end
end
$keep << Holder.new
ObjectSpace.define_finalizer($keep[1], ->(_) { raise "lost" })
at_exit { puts "at_exit" }
