def m(a, b = 1, *c, d, k: 2, **o, &blk)
  super
  super()
  super(1, *c)
  super { 1 }
  each { super }
  each { super(2) }
end
def simple(a, b) = super
