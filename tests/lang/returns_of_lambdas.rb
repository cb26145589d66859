# A `return` in a Proc leaves the lambda around it, or nothing once that has ended.
def try
  p yield
rescue LocalJumpError => e
  puts "#{e.message} #{e.reason} #{e.exit_value}"
end

def literal
  -> { Proc.new { return :a } }.call.call
  :not
end

def by_name
  lambda { Proc.new { return :b } }.call.call
  :not
end

def nested
  -> { -> { Proc.new { return :c } }.call.call }.call
  :not
end

def outer_lives
  r = -> { -> { Proc.new { return :d } }.call }.call
  r.call
end

def running
  x = -> { [1].each { return :e }; 0 }.call
  [x, lambda { Proc.new { return :f }.call; 0 }.call]
end

def captured
  v = 1
  made = lambda { w = v; proc { return w + v } }
  made.call.call
end

def plain
  made = proc { proc { return :g } }
  made.call.call
  :not
end

def guarded
  -> { proc { begin; return :h; ensure; p :ensure; end } }.call.call
end

try { literal }
try { by_name }
try { nested }
try { outer_lives }
try { running }
try { captured }
try { plain }
try { guarded }
