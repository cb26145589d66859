# Loops over Arrays that call nothing, and calls on values that are no objects: nanoseconds of processor time per round, the least of five (docs/decisions/0041-arrays-that-were-looked-at.md, 0042-elements-that-stay.md); any Ruby runs it: RUBY array_loops.rb

def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

def dot(a, b, n)
  s = 0.0
  k = 0
  while k < n
    s += a[k] * b[k]
    k += 1
  end
  s
end

def dot_of_integers(a, b, n)
  s = 0
  k = 0
  while k < n
    s += a[k] * b[k]
    k += 1
  end
  s
end

def dot_by_each(a, b, n)
  s = 0.0
  (0...n).each { |k| s += a[k] * b[k] }
  s
end

def fill(a, _, n)
  k = 0
  while k < n
    a[k] = true
    k += 1
  end
end

class NilClass
  def blank? = true
end

def nil_to_i(_, _, n)
  k = 0
  while k < n
    k += 1
    nil.to_i
  end
end

def nil_blank(_, _, n)
  k = 0
  while k < n
    k += 1
    nil.blank?
  end
end

def symbol_empty(_, _, n)
  k = 0
  while k < n
    k += 1
    :name.empty?
  end
end

def set_size(set, _, n)
  k = 0
  while k < n
    k += 1
    set.size
  end
end

# Rows of an Array of Arrays: `i` stays, or goes round with the outer loop.
def row(a, _, n)
  s = 0
  i = 0
  while i < 1
    k = 0
    while k < n
      s += a[i][k]
      k += 1
    end
    i += 1
  end
  s
end

def row_of_floats(a, _, n)
  s = 0.0
  i = 0
  while i < 1
    k = 0
    while k < n
      s += a[i][k] * 0.5
      k += 1
    end
    i += 1
  end
  s
end

def row_by_times(a, _, n)
  s = 0
  1.times { |i| n.times { |k| s += a[i][k] } }
  s
end

def table(a, _, n)
  i = 1
  while i < 2
    k = 1
    while k < n
      a[i][k] = (a[i - 1][k] + a[i][k - 1]) & 1023
      k += 1
    end
    i += 1
  end
end

def three_levels(a, _, n)
  s = 0
  k = 0
  while k < n
    s += a[0][1][k]
    k += 1
  end
  s
end

require "set"
N = 1000
ROUNDS = 3000
floats = Array.new(N) { |i| i * 0.5 }
integers = Array.new(N) { |i| i }
programs = {
  dot: floats, dot_of_integers: integers, dot_by_each: floats, fill: Array.new(N, 0),
  row: [integers], row_of_floats: [floats], row_by_times: [integers], table: [integers.dup, integers.dup], three_levels: [[floats, integers]],
  nil_to_i: nil, nil_blank: nil, symbol_empty: nil, set_size: Set.new(1..10)
}
programs.each do |name, given|
  least = 5.times.map do
    before = cpu
    ROUNDS.times { send(name, given, given, N) }
    (cpu - before) * 1e9 / N / ROUNDS
  end.min
  puts format("%-16s %6.2f", name, least)
end
