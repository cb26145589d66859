# What stands for an exception, since it has `exception`, is equal to one like it.
require "delegate"
a = RuntimeError.new("x")
p a == SimpleDelegator.new(a), a == SimpleDelegator.new(RuntimeError.new("y")), a == SimpleDelegator.new(ArgumentError.new("x")), SimpleDelegator.new(a) == a
maker = Object.new
def maker.exception = RuntimeError.new("x")
p a == maker, a == RuntimeError, ArgumentError.new("x") == maker
def maker.exception = 5
p a == maker, a == 1, a == nil
def maker.exception(x) = RuntimeError.new("x")
p a == maker
def maker.exception = raise("no")
p a == maker, $!
