def a = b
def b = c
def c = caller_locations(0).map(&:lineno)
p a
def d = raise("x")
begin
  d
rescue => e
  p e.backtrace.map { |l| l[/\A[^:]+:\d+/] }, e.backtrace_locations.map(&:lineno), e.backtrace_locations[0].path, File.basename(e.backtrace_locations[0].absolute_path)
end
def e1
  yield
end
begin
  e1 do
    [1].each { |x| raise "in block" }
  end
rescue => e
  p e.backtrace_locations.map(&:lineno).first(4).uniq.first(2)
end
p caller
p caller(0).size
p __LINE__
p caller_locations(0).first.lineno
begin
  eval("raise 'e'", binding, "evalfile", 42)
rescue => e
  p e.backtrace[0][/\A\w+:\d+/]
end
def deep(n) = n == 0 ? raise("deep") : deep(n - 1)
begin
  deep(20)
rescue => e
  p e.backtrace.size, e.backtrace_locations.map(&:lineno).tally.to_a
end
