def a(...) = b(1, ...)
def c(*, **, &) = d(*, **, &)
def e(*) = [1].each { f(*) }
