# Quotients, successors and paths of all sizes: large ones go other ways than small ones.
r = Random.new(5)
bad = 0
3000.times do
  a = r.rand(1 << r.rand(1..5000)) + 1; b = r.rand(1 << r.rand(1..5000)) + 1
  a = (b * [1, 3, (1<<53)+1, r.rand(1..99)].sample(random: r)) if r.rand(4) == 0
  a = -a if r.rand(2)==0
  x = a.fdiv(b)
  y = Rational(a, b).to_f
  (bad += 1; puts [a,b,x,y].inspect[0,200] if bad < 4) unless x == y || x.nan?
end
p bad
%w[az zz Az-9 a-9 zZ9 é zé éz -- a\ b 1.9 ZZZ9].each { |s| p s.succ; p (s * 40).succ.then { [_1.size, _1[0, 5], _1[-5..]] } }
p ("é" * 500 + "z" * 500).succ.then { [_1.size, _1[495,10], _1[-5..]] }, ("-" * 500 + "z" * 500).succ[495,10], ("9" * 300).succ[0, 3], ("あ" * 300).succ[-3..], ("-é" * 300 ).succ[-3..]
p File.expand_path("a/../../b", "/x/y"), File.expand_path("//a/../..", "/"), File.expand_path("/a/b/../../../c/./d/"), File.expand_path("..", "/"), File.expand_path("/a/../b"), File.expand_path("//a//b/..")
