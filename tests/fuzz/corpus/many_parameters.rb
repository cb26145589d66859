# More parameters and variables than registers: arithmetic on 16 bits overflowed.
begin
  eval("def m(#{(0..70_000).map { |i| "a#{i}" }.join(",")}) = 1")
rescue SyntaxError => e
  puts e.message.lines.first
end
begin
  eval((0..70_000).map { |i| "v#{i} = 1\n" }.join)
rescue SyntaxError => e
  puts e.message.lines.first
end
