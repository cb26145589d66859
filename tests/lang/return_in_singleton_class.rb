# `return` in the body of `class <<` leaves the method around it.
def a; class << self; return 5; end; 6; end
p a
def b; begin; class << self; begin; return [5, self.to_s[0,8]]; ensure; print "E1 "; end; end; ensure; print "E2 "; end; 6; end
p b
def c; [1].each { class << self; return 7; end }; 8; end
p c
def d; class << self; class << self; return 9 if true; end; end; 10; end
p d
def e; x = (class << self; return 11 if false; 12; end); [x]; end
p e
def f; class << self; return; end; 6; end
p f
l = lambda { class << self; return 13; end; 14 }
p l.call
def g; class << self; return 1, 2; end; end
p g
def h; o = Object.new; class << o; def z = 1; return self; end; end
p h.inspect[0, 9]
def i; for q in [1]; class << self; return q rescue return 15; end; end; 16; end
p i
