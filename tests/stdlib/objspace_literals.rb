# Literals within others come from their own lines, whatever is called between them.
require "objspace"

def mk(i)
  [
    1,
    { i => i },
    [i],
    { a: i },
    "s#{i}",
    Object.new,
    [[i],
     [i,
      [i]]],
    i.to_s +
      i.to_s,
    (i..
      i),
    "abc",
    i.to_s,
    format("%d",
      i),
    { k:
        [i],
      **{ l: [i] } },
    [*[i],
     [1, 2, 3, 4, 5, 6, 7, 8]],
  ]
end

def two(i) = foo([i],
  [i],
  k: [i],
  j: { a: i })
def foo(a, b, k:, j:) = [a, b, k, j]

def show(one, depth = 0)
  puts "#{" " * depth}#{one.class} #{ObjectSpace.allocation_sourceline(one).inspect} #{ObjectSpace.allocation_method_id(one).inspect}"
  case one
  when Array then one.each { |part| show(part, depth + 1) }
  when Hash then one.each_value { |part| show(part, depth + 1) }
  end
end
ObjectSpace.trace_object_allocations { [mk(1), two(1)] }.each { |one| show(one) }

# Where the program goes line by line is told as ever.
def plain(i)
  [
    { i => i },
    [i,
     "abc"],
  ]
  i
end
lines = []
trace = TracePoint.new(:line) { |tp| lines << tp.lineno if tp.method_id == :plain }
trace.enable { plain(1) }
p lines

class Odd
  def hash = raise("no")
end
def fails(odd)
  [
    1,
    {
      1 => [2],
      odd => 1
    }
  ]
end
begin
  fails(Odd.new)
rescue => e
  puts e.backtrace.first(2).map { |at| at[/\d+:in.*/] }
end

# Lambdas, names of the file, joined pieces.
ObjectSpace.trace_object_allocations do
  list = [
    "a",
    -> { 1 },
    __FILE__,
    <<~A,
      text
    A
    "joined " \
      "text",
    /x#{1}/,
  ]
  hash = {
    a: -> {},
    b: __FILE__,
  }
  p list.map { |o| ObjectSpace.allocation_sourceline(o) }, hash.values.map { |o| ObjectSpace.allocation_sourceline(o) }
end
