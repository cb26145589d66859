# A pool of an image that is older than the pool's own classes, and than the program's: they travel in whatever order they were met.
image = RubyVM::Image.capture
module Above
  def above = "above #{super}"
end
class Low
  def above = :low
end
class Middle < Low
  prepend Above
  include Comparable
end
class High < Middle
  class Inner < High
  end
  def self.run(image) = image.spawn(3) { |n| [n + 1, self::Inner.new.above, self::Inner.ancestors.first(6)] }.value
end
p High.run(image)
p image.spawn(High::Inner.new) { |o| [o.above, o.class.superclass, o.is_a?(Comparable), o.class.instance_method(:above).owner] }.value
p RubyVM::Pool.open(size: 1, image:) { |pool| pool.map([1, 2]) { |n| n * 10 } }
# The jobs' objects are opened by name: their classes are not there.
p(RubyVM::Pool.open(size: 1, image:) { |pool| pool.map([High.new, Low.new, 1], errors: :return) { |o| o.to_s } }.map { |v| v.is_a?(String) ? v : v.message[/undefined.*/] })
