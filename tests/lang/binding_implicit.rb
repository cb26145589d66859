p proc { _2; binding.implicit_parameters }.call(1, 2)
p proc { it; binding.implicit_parameters }.call(1)
p proc { r = binding.implicit_parameters; it; r }.call(1)
p proc { _1; proc { binding.implicit_parameters }.call }.call(1), binding.implicit_parameters
p proc { _3; %i[_1 _2 _3].map { |n| n } .then { |a| a.size } }.call(7, 8, 9)
p proc { _3; b = binding; [b.implicit_parameter_get(:_1), b.implicit_parameter_get("_3"), b.implicit_parameter_defined?(:_4)] }.call(7, 8, 9)
p proc { it; b = binding; b.local_variable_set(:x, 1); b.eval("y = 2"); [b.implicit_parameter_get(:it), b.local_variables.first(2).sort] }.call(:v)
begin
  proc { binding.implicit_parameter_get(:_1) }.call
rescue NameError => e
  puts e.message.sub(/0x\h+/, "XX")
end
begin
  binding.implicit_parameter_defined?(:a)
rescue NameError => e
  puts e.message
end
b = binding
b.instance_variable_set(:@a, 1)
p b.dup.instance_variable_get(:@a), b.clone.instance_variables
