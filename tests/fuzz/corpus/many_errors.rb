# Thousands of errors in one long line: the report took gigabytes.
begin
  eval("(" * 30_000)
rescue SyntaxError => e
  puts e.message.size < 1_000_000
end
