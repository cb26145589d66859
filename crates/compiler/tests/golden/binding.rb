def m(a)
  b = 1
  each { |c| binding }
  each { |d| d }
  b
end
def n(x)
  y = x
  eval("y")
end
def o(s) = instance_eval(s)
def q = instance_eval { 1 }
