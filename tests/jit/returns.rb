# `return`, `break`, `next` and `throw` out of blocks of methods that are small enough to become part of their callers: whose variables live on.
def pass
  yield
end
def early(n) = pass { return n }
def either(n) = pass { return n if n.odd?; -n }
def nested(n) = pass { pass { return n + 1 } }
def ensured(n)
  pass { return n }
ensure
  $ensured += 1
end
def returned(n)
  i = s = 0
  while i < n
    s += early(i) + either(i)
    s += nested(i)
    s -= ensured(i)
    i += 1
  end
  [i, s]
end
def broken(n)
  i = s = 0
  f = 0.5
  while i < n
    s += pass { break i }
    f += 1.5
    s += pass { next 2 }
    i += 1
  end
  [i, s, f]
end
def in_loops(n)
  i = s = 0
  while i < n
    s += 3.times { |k| break k + i if k == 1 }
    s += [1, 2].each { |v| break v }
    s += (1..4).each { |v| break v * 2 if v == i % 4 + 1 }
    i += 1
  end
  [i, s]
end
def thrown(n)
  i = s = 0
  while i < n
    s += catch(:out) { pass { throw :out, i } }
    i += 1
  end
  [i, s]
end
def rescued(n)
  i = s = 0
  while i < n
    begin
      s += pass { raise IndexError if i % 3 == 0; i }
    rescue IndexError
      s -= 1
    end
    i += 1
  end
  [i, s]
end
$ensured = 0
%i[returned broken in_loops thrown rescued].each { |m| puts "#{m} #{send(m, 3000)} #{send(m, 30_000)}" }
p $ensured
