# A buffer that was given back, or never had memory, has no bytes: numbers lie beyond its end.
$VERBOSE = nil
def t
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end
b = IO::Buffer.new(4)
b.free
t { b.get_value(:U8, 0) }
t { b.set_value(:U8, 0, 1) }
t { b.get_values([:U8], 0) }
t { b.get_values([], 0) }
t { b.set_values([], 0, []) }
t { b.get_value(:U8, 1) }
t { b.each(:U8).to_a }
t { b.get_string }
t { IO::Buffer.new(0).get_values([], 0) }
t { IO::Buffer.for("").get_value(:U8, 0) }
