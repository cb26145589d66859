eval(<<'X_X')
p nil.object_id
p true.object_id
p :a.object_id == :a.object_id
p 3.instance_of?(Integer)
p Integer === 3
p Comparable === 3
ptrue3.class.ancestors.include?(Numeric)
p [1, "a", :b, nil, 2.0].map(&:class)
p Class.class
p Module.class
p BasicObject.superclass.inspect
p "x".method(:upcase).call, "x".method(:upcase).owner, "x".method(:upcase).unbind.class
def o.to_str = "ostr"
p "a" + o
p o.instance_variables
p o.instance_variable_set(:@a, 1)
p A.allocate.instance_variables
p A.name
p A.to_s
p A.hash == A.hash
p(!!o)
p 3.dup, nil.dup, :a.clone

X_X
