# Blocks that are given to curried Procs; defined? of methods with self before them; autoload of an object.
p proc { |a, b, &c| c&.call(a, b) }.curry[1].call(2) { |x, y| x + y }
p lambda { |a, b, &c| c }.curry[1].call(2) { } ? :block : :none
p lambda { |a, b, c, &d| d.call(a + b + c) }.curry[1][2].call(3) { |n| n * 2 }
p lambda { |a, b, &c| c.inspect }.curry[1][2]

class Visible
  def all = [defined?(self.open), defined?(self.hidden), defined?(hidden), defined?(self.kept), defined?(self.hidden = 1), defined?(self.hidden.x), defined?(self[0]), defined?(self.none)]
  def open = 1
  protected def kept = 1
  private
  def hidden = 1
  def hidden=(n)
  end
  def [](n) = n
end
p Visible.new.all, defined?(Visible.new.kept)

instance_eval do
  autoload :NeverThere, "./no such file.rb"
  begin
    NeverThere
  rescue LoadError => e
    p e.class, Object.autoload?(:NeverThere)
  end
end
