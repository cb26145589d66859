def a
  puts "body"
  return 1
ensure
  puts "ensure"
end
p a
def b
  return 1
ensure
  return 2
end
p b
def c
  yield
ensure
  puts "cleanup"
end
c { puts "in" }
begin
  c { raise "x" }
rescue => e
  p e.message
end
r = [1, 2].each { |v| begin; break v; ensure; puts "b-ensure"; end }
p r
def d
  [1, 2].each do |v|
    begin
      next
    ensure
      puts "n#{v}"
    end
  end
  :done
end
p d
def e
  begin
    raise "one"
  ensure
    puts "first"
  end
rescue => err
  puts "rescued #{err.message}"
else
  puts "not here"
ensure
  puts "second"
end
e
def f
  begin
    1
  rescue
    2
  else
    3
  ensure
    4
  end
end
p f
def g
  i = 0
  while i < 3
    begin
      i += 1
      next if i == 1
      break if i == 2
    ensure
      puts "w#{i}"
    end
  end
  i
end
p g
def h
  yield
ensure
  begin
    raise "inner"
  rescue
    puts "handled"
  end
end
begin
  h { raise "outer" }
rescue => x
  p x.message
end
begin
  begin
    raise "a"
  ensure
    raise "b"
  end
rescue => x
  p x.message, x.cause.message
end
p((begin; 1; ensure; 2; end))
