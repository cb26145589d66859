# Strings, Arrays and streams that get themselves as an argument: inline, in a buffer that has room, in one that moves.
require "stringio"
[3, 20, 24, 30, 200].each do |n|
  make = -> { s = +""; n.times { |i| s << (97 + i % 26) }; s }
  once = make.call
  ok = []
  s = make.call; s << s; ok << (s == once * 2)
  s << s << s; ok << (s == once * 8)
  s = make.call; s.concat(s, s); ok << (s == once * 3)
  s = make.call; s.prepend(s, s); ok << (s == once * 3)
  s = make.call; s.insert(1, s); ok << (s == once[0] + once + once[1..])
  s = make.call; s[1, 2] = s; ok << (s == once[0] + once + once[3..])
  s = make.call; s = s * 5; ok << (s == once + once + once + once + once)
  s = make.call; s.replace(s); ok << (s == once)
  s = make.call; s.send(:initialize, s); ok << (s == once)
  s = make.call; s.sub!(/b/) { s }; ok << (s == once.sub("b") { once })
  s = make.call; t = s.dup; s << t; t << s; ok << (t == once * 3)
  s = make.call; io = StringIO.new(s); io.write(s, s); ok << (s == (n > 0 ? once * 2 : ""))
  s = make.call; io = StringIO.new(s); io.read; io.ungetc(s); ok << (io.read == once)
  p [n, ok.uniq, ok.size]
end
[2, 3, 5, 17, 40].each do |n|
  make = -> { (0...n).to_a }
  once = make.call
  ok = []
  a = make.call; a.concat(a, a); ok << (a == once * 3)
  a = make.call; a.push(*a); ok << (a == once * 2)
  a = make.call; a.unshift(*a); ok << (a == once * 2)
  a = make.call; a.shift; a.unshift(*a); ok << (a == once[1..] * 2)
  a = make.call; a.insert(1, *a); ok << (a == once[0, 1] + once + once[1..])
  a = make.call; a[1, 1] = a; ok << (a == once[0, 1] + once + once[2..])
  a = make.call; a[n, 0] = a; ok << (a == once * 2)
  a = make.call; a[n + 2, 0] = a; ok << (a == once + [nil, nil] + once)
  a = make.call; a[0..] = a; ok << (a == once)
  a = make.call; a.replace(a); ok << (a == once)
  a = make.call; a.send(:initialize, a); ok << (a == once)
  a = make.call; a.fill { a }; ok << a.all? { |e| e.equal?(a) }
  a = make.call; a.flatten!; ok << (a == once)
  p [n, ok.uniq, ok.size]
end
