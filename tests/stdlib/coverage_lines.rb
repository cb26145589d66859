# Which lines Coverage counts and TracePoint tells of, in expressions that go over several lines.
require "coverage"
require "tmpdir"

DIR = Dir.mktmpdir
at_exit { Dir.each_child(DIR) { |f| File.delete("#{DIR}/#{f}") }; Dir.rmdir(DIR) }

def lines(name, program)
  path = "#{DIR}/#{name}.rb"
  File.write(path, program)
  Coverage.start(lines: true)
  told = []
  failed = nil
  TracePoint.new(:line) { |t| told << t.lineno if t.path == path }.enable do
    load path, true
  rescue => e
    failed = e.backtrace_locations.filter_map { |l| l.lineno if l.path == path }
  end
  counted = Coverage.result[path][:lines].each_with_index.filter_map { |n, i| "#{i + 1}:#{n}" if n }
  puts "#{name}: #{told.join(" ")} | #{counted.join(" ")}#{" | #{failed}" if failed}"
end

lines :interpolation, <<'R'
x = 1
a = [
  1,
  "#{x}",
  "a#{x}
b#{x + 1}",
]
w = <<~A
  #{x.to_s} y
A
v = "a#{x.then { |y|
  y.to_s
}}"
R

lines :known_conditions, <<'R'
if true
  y = 1
else
  y = 2
end
if false
  y = [1].map { |z|
    z
  }
end
z = 3
y = 2 if nil
unless true
  y = 4
else
  y = 5
end
def m
  if nil
    p 1
  else
    p(
      2) if false
    3.to_s
  end
end
m
begin
  if nil
    p 1
  else
    m
  end
rescue
  m
end
while true
  break
end
R

lines :jumps, <<'R'
[1].each do |x|
  next [
    x,
    2
  ]
end
[1].each do |x|
  break [
    [],
    x
  ]
end
def m
  yield(
    1,
    2
  )
  return {
    a: self,
  }
end
m { |a|
  a }
R

lines :endless, <<'R'
def m(x) = x + 1
m(2)
def n(x) =
  x + 1
n(2)
def o(x) = (
  m(x)
  n(x)
)
o(1)
R

lines :ensures, <<'R'
def m
  m2
ensure
  m2
end
def m2 = 1
def m3
  return m2
ensure
  m2
end
m
m3
begin
  m
  raise "x" rescue m
ensure
  m2
end
begin
  raise "x"
ensure
  m2
end
R

lines :conditionals, <<'R'
def f(*) = 1
x = f ?
  f(2) :
  f(3)
y = f &&
  f(2)
f(
  f ? 1 : 2,
)
f(1) if f(
  x)
f(((
  x
)))
x, y =
  f,
  2
z = (
  f
  f
)
f(begin
  f
end)
R

lines :loops, <<'R'
i = 0
while i < 2
  i += 1
end
begin
  i += 1
end while i < 5
until i > 7
  i += 1
  next if i == 6
end
R

lines :paths, <<'R'
x = Object::
  String
y = [
  1,
  Object::
   Nope,
]
R

lines :hashes, <<'R'
def f(**) = 1
h = {
  a: f,
  b: 2,
}
k = {
  a: 1,
  **h,
}
f(a: 1,
  **k)
l = [
  [1],
  h]
m = {
  a: 1,
  b: f,
}
R
