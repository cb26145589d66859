def a(x:, y: 2) = [x, y]
def b(p, q=5, *r, x: 1, **o) = [p,q,r,x,o]
def c(p, q=5, x: 1, y: q, &blk) = [p,q,x,y, blk&.call]
def d(*) = e(*)
def e(*a, **k) = [a,k]
class F; attr_reader :h; def initialize(a, b: 1, c: b) = @h=[a,b,c]; end
class G < F; def initialize(a, c: 9) = super(a, c: c, b: 7); end
class H < F; def initialize(a, b: 3) = super; end
p a(x: 1), a(y: 3, x: 1), b(1, x: 2, z: 3), c(1, y: 3), c(1, 2, x: 4) { :blk }, d(1, a: 2)
p F.new(1).h, F.new(1, c: 2).h, F.new(1, c: 2, b: 3).h, G.new(1, c: 4).h, H.new(2, b: 5).h
p((a(y: 1) rescue $!.message), (a(x: 1, z: 2) rescue $!.message), (a(1, x: 1) rescue $!.message), (F.new(b: 1) rescue $!.message))
p((a(x: 1, x: 2)))
pr = ->(x:, y: 3) { [x,y] }
p pr.(x: 1), pr.call(y: 1, x: 2)
def yy = yield(x: 1, y: 2)
p yy { |x:, y:| [x,y] }, yy { |h| h }, yy { |**o| o }
def mm(h) = h
p mm(a: 1, b: 2), mm("a": 1)
class M; def method_missing(n, *a, **k, &b) = [n,a,k,b&.call]; def respond_to_missing?(*) = true; end
p M.new.foo(1, a: 2), M.new.foo(a: 2) { 3 }
x = 5; y = 6
p a(x:, y:)
blk = proc { :b }
p c(1, x: 2, &blk)
p M.new.foo(z: 1, &blk)
p a(**{x: 1}, y: 2), a(x: 1, **{y: 5})
p [3,1].sort_by { |v, **| v }, Integer("z", exception: false), 2.5.round(half: :even)
S = Struct.new(:a, :b, keyword_init: true); p S.new(a: 1, b: 2)
D = Data.define(:a, :b); p D.new(a: 1, b: 2)
def n(x: (return :early; 1)) = x
p n, n(x: 3)
def kwn(**nil) = 1
p((kwn(a: 1) rescue $!.message))
class PV; private def pm(a:) = a; def t = pm(a: 1); def s = self.pm(a: 2); protected def pp_(a:) = a; public def u(o) = o.pp_(a: 3); end
p PV.new.t, PV.new.s, PV.new.u(PV.new), (PV.new.pm(a: 1) rescue $!.message), (PV.new.pp_(a: 1) rescue $!.message)
p send(:a, x: 1), method(:a).call(x: 1), method(:a).to_proc.(x: 4)
def deep(n, k: n) = n == 0 ? k : deep(n-1, k: k)
p deep(3000), (begin; deep(10**7); rescue SystemStackError; $!.class; end)
def big(a:,b:,c:,d:,e:,f:,g:,h:,i:,j:,k:,l:,m:,n:,o:,p:,q:) = [a,q]
p big(a: 1,b:2,c:3,d:4,e:5,f:6,g:7,h:8,i:9,j:10,k:11,l:12,m:13,n:14,o:15,p:16,q:17)
def dup2(a: 1, b: 2, c: 3, d: 4) = [a,b,c,d]
p dup2(d: 1, c: 2, b: 3, a: 4), dup2(c: 1), dup2
p(({a: 1, b: 2, a: 3}), {1=>2, "a"=>3, 1.0=>4, -0.0=>5, 0.0=>6})
