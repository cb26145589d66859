def m
  yield
  yield 1, 2
  yield(*a, k: 1)
  x = yield 3
  block_given? && x
end
def n
  each { |x| yield x if block_given? }
  defined?(yield)
end
