# The binding of a block that was given to a call sees the variables around it, whether a block mentions them or not.
def look(code, &block) = eval(code, block.binding)

def method_body
  seeds = 12
  look("seeds + 1") { nil }
end
p method_body

[3].each do |outer|
  inner = outer * 2
  p look("[outer, inner]") {}
  2.times { |i| p look("[outer, inner, i]") {} if i == 1 }
end

def passed_on(&block) = look("word", &block)
def passes
  word = "kept"
  passed_on {}
end
p passes

shared = 1
p look("shared += 1") { shared }, shared

def names(&block) = block.binding.local_variables
def with_names
  a = b = nil
  names {}
end
p with_names

def value(name, &block) = block.binding.local_variable_get(name)
def with_value(limit)
  total = limit * 2
  [value(:limit) {}, value(:total) {}]
end
p with_value(4)

begin
  look("unknown_name") {}
rescue NameError => e
  p e.name
end
