def t(x)
  case x
  when 1, 2 then "low"
  when 3..5 then "mid"
  when String, Symbol then "text"
  when /never/ then "no"
  when nil then "nil"
  when ->(v) { v.respond_to?(:each) } then "each"
  when *[100, 200] then "splat"
  else "other"
  end
end
[1, 4, "s", :s, nil, [1], 200, 6.5].each { |v| puts t(v) }
r = case when 1 > 2 then :a when 2 > 1 then :b end
p r
p(case 5 when 6 then 1 end)
case "hello world"
when /(\w+) (\w+)/ then puts $2, $~[1]
end
class Even
  def self.===(n) = n.even?
end
p((case 4 when Even then "even" end))
x = case
    when false then 1
    else
      2
    end
p x
