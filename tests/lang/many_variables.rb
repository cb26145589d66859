# Limits of environments: refused with a SyntaxError.
def many(n) = (0...n).map { |i| "v#{i} = #{i}\n" }.join
p eval("#{many(2000)}; -> { v0 + v1999 }.call")
begin
  eval("#{many(2100)}; -> { v0 + v2099 }.call")
rescue SyntaxError => e
  puts e.message[/(too many|nested).*/]
end
b = binding
100.times { |i| b = eval("z#{i} = #{i}; binding", b) }
p eval("z0 + z99", b)
begin
  b = binding
  300.times { |i| b = eval("z#{i} = #{i}; binding", b) }
rescue SyntaxError => e
  puts e.message[/(too many|nested).*/]
end
