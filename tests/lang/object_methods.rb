class A
  def initialize(v) = @v = v
  def ==(o) = o.class == self.class && o.v == v
  alias eql? ==
  def hash = v.hash
  attr_reader :v
  protected :v
end
p A.new(1) == A.new(1), A.new(1).eql?(A.new(2)), [A.new(1), A.new(1)].uniq.size, { A.new(1) => :x }[A.new(1)]
o = Object.new
p o == o, o.equal?(o.dup), o.is_a?(Object), o.kind_of?(Comparable), o.instance_of?(BasicObject), Object.new == 1
p 5.then { |x| x + 1 }, 5.tap { |x| print x, "\n" }, 5.itself
p o.respond_to?(:inspect), o.methods.include?(:dup), o.frozen?, nil.nil?, o.nil?
p o.inspect.match?(/\A#<Object:0x[0-9a-f]{16}>\z/), o.to_s == o.inspect
p o.object_id == o.object_id, 1.object_id, nil.object_id, true.object_id, :a.object_id == :a.object_id
p 3.instance_of?(Integer), Integer === 3, Comparable === 3, 3.class.ancestors.include?(Numeric)
p [1, "a", :b, nil, 2.0].map(&:class), Class.class, Module.class, BasicObject.superclass.inspect
p "x".method(:upcase).call, "x".method(:upcase).owner, "x".method(:upcase).unbind.class
def o.to_str = "ostr"
p "a" + o, File.join("x", o), o.instance_variables, o.instance_variable_set(:@a, 1)
p A.allocate.instance_variables, A.name, A.to_s, A.hash == A.hash, !!o, o !~ 1
p 3.dup, nil.dup, :a.clone
