# What nil is as a number.
p nil.to_i, nil.to_f, nil.to_r, nil.to_c, nil.rationalize, nil.rationalize(0.1), nil.to_r.frozen?, nil.to_c.class
%i[to_r to_c rationalize to_i].each { |name| p [name, nil.method(name).arity] }
[[:to_r, 1], [:to_c, 1], [:rationalize, 1, 2]].each do |name, *args|
  nil.public_send(name, *args)
rescue ArgumentError => e
  puts e.message
end
def Rational(*) = 5
def Complex(*) = 6
p nil.to_r, nil.to_c
