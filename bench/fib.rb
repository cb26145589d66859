# Naive Fibonacci: nothing but calls, compares and Integer additions.

def fib(n)
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

n = (ARGV[0] || 36).to_i
puts "fib(#{n}) = #{fib(n)}"
