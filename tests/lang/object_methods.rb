class A
  def initialize(v) = @v = v
  def ==(o) = o.class == self.class && o.v == v
  alias eql? ==
  def hash = v.hash
  attr_reader :v
  protected :v
end
p A.new(1) == A.new(1)
p A.new(1).eql?(A.new(2))
p [A.new(1), A.new(1)].uniq.size
p({ A.new(1) => :x }[A.new(1)])
o = Object.new
p o == o
p o.equal?(o.dup)
p o.is_a?(Object)
p o.kind_of?(Comparable)
p o.instance_of?(BasicObject)
p Object.new == 1
p 5.then { |x| x + 1 }, 5.tap { |x| print x, "\n" }, 5.itself
p o.respond_to?(:inspect)
p o.methods.include?(:dup)
p o.frozen?
p nil.nil?
p o.nil?
p o.inspect.match?(/\A#<Object:0x[0-9a-f]{16}>\z/), o.to_s == o.inspect
p o.object_id == o.object_id
p 1.object_id
p nil.object_id
p true.object_id
p :a.object_id == :a.object_id
p 3.instance_of?(Integer)
p Integer === 3
p Comparable === 3
p 3.class.ancestors.include?(Numeric)
p [1, "a", :b, nil, 2.0].map(&:class)
p Class.class
p Module.class
p BasicObject.superclass.inspect
p "x".method(:upcase).call, "x".method(:upcase).owner, "x".method(:upcase).unbind.class
def o.to_str = "ostr"
p "a" + o
p File.join("x", o)
p o.instance_variables
p o.instance_variable_set(:@a, 1)
p A.allocate.instance_variables
p A.name
p A.to_s
p A.hash == A.hash
p(!!o)
p 3.dup, nil.dup, :a.clone
