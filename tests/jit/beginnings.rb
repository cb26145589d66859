# What leads back to the first instruction finds the variables that it has left: machine code entered there is not called.
k = 0
60_000.times { |i| j = j.to_i + 1; k += j; if k % 5000 == 0 then k += 1; redo end }
p k
n = r = 0
60_000.times { |i; j| n += 1; r += 1 if j; j = i; redo if n % 50 == 0 }
p r
$n = $r = 0
b = lambda { |i| $n += 1; $r += 1 if (j ||= nil); j = i; redo if $n % 100 == 0 }
i = 0
while i < 60_000
  b.(i)
  i += 1
end
p $r
n = 0
r = []
60_000.times { |i| n += 1; r << [i, (j ||= nil)] if i % 20_000 == 19_999; j = i; redo if n % 20_000 == 0 && i > 0 }
p r
# An endless loop, one that tests at its end, and `retry`.
def endless = (while true; y = (y || 0) + 1; $steps += 1; return y if y > 1000; end)
def tested(n)
  begin
    y = (y || 0) + 1
    $steps += 1
  end while y < n
end
$steps = 0
300.times { endless; tested(500) }
p $steps
def retried
  begin
    tries = (tries || 0) + 1
    $steps += 1
    raise "again" if tries < 5
  rescue
    retry
  end
  tries
end
$steps = 0
p 5000.times.sum { retried }, $steps
