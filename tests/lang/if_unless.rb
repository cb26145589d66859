def kind(n)
  if n < 0 then :negative
  elsif n == 0
    :zero
  else
    :positive
  end
end
p kind(-1), kind(0), kind(5)
p((if false then 1 end))
p((unless true then 1 else 2 end))
puts "post" if true
puts "never" unless true
x = 5
p x > 3 ? "big" : "small"
p (true && nil), (false || :b), (not true)
a = nil
a ||= 4
a &&= a + 1
p a
p((1 if nil).inspect)
p [nil, false, 0, "", []].map { |v| v ? :truthy : :falsy }
b = (c = 3) + 1
p b, c
if (m = "abc"[1]) && m == "b"
  puts "assigned #{m}"
end
p(defined?(zzz), defined?(x), defined?(puts), defined?(String), defined?(@i), defined?(yield), defined?(3 + 3))
