# `$_` is the method's, for what it evaluates as well.
def shown
  $_ = "method's"
  eval('p $_')
  eval('$_ = "eval\'s"')
  p $_
  binding.eval('p $_')
  [1].each { eval('p $_; $_ = "block\'s"') }
  p $_
end
shown

def not_mentioned
  eval('$_ = "kept"')
  eval('p $_')
end
not_mentioned

$_ = "top"
eval('p $_')
Object.new.instance_eval('p $_')
eval('$_ = "changed"; eval("p $_")')
p $_
b = binding
b.eval('$_ = "in a Binding"')
p $_, b.local_variables
def other = eval('p $_')
other
Thread.new { $_ = "thread's"; eval('p $_') }.join
p $_
Fiber.new { eval('$_ = "fiber\'s"; p $_') }.resume
p $_
