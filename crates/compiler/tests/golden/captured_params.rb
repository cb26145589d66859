def m(a, b = a, *r, c, k:, o: k, **kw, &blk)
  -> { [a, b, r, c, k, o, kw, blk] }
end
