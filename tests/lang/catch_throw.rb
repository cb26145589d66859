r = catch(:done) do
  10.times { |i| 10.times { |j| throw :done, [i, j] if i * j == 42 } }
  :never
end
p r
p catch { |tag| throw tag, 7 }
p catch(:a) { catch(:b) { throw :a, 1 }; 2 }
p catch(:x) { 5 }, catch(:x) { throw :x }
begin
  throw :nope
rescue UncaughtThrowError => e
  p e.message, e.tag, e.value
end
def deep(n) = n == 0 ? throw(:out, "deep") : deep(n - 1)
p catch(:out) { deep(50) }
catch(:e) do
  begin
    throw :e
  ensure
    puts "ensure ran"
  end
end
o = Object.new
p catch(o) { throw o, :obj }
