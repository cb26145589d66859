# Warning[], Warning.warn, Kernel#warn with categories; separators and constants that are deprecated.
$VERBOSE = false
short = Object.new
def short.write(*texts) = texts.join("").gsub(%r{\S*/(\w+\.rb)}, '\1').then { |t| $stdout.write(t) }
$stderr = short
def try
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end
p Warning.categories
p Warning.categories.map { |c| Warning[c] }
try { Warning[:foo] }
try { Warning["deprecated"] }
try { Warning[:foo] = true }
try { Warning.warn("x\n", category: :foo) }
try { Warning.warn("x\n", category: "deprecated") }
try { Warning.warn(1) }
try { Warning.warn("x\n", category: nil) }
try { Warning.warn("x\n", other: 1) }
try { Warning.warn("hidden\n", category: :deprecated) }
try { Warning.warn("shown\n", category: :experimental) }
try { warn("x", category: :foo) }
try { warn("x", category: 1) }
try { warn("hidden", category: "deprecated") }
try { warn("shown", category: "experimental") }
try { o = Object.new; def o.to_sym = :experimental; warn("converted", category: o) }
Warning[:deprecated] = true
try { warn("shown", "twice", category: :deprecated) }

puts "== separators"
$, = nil
$, = "-"
p [1, 2].join, [1, 2].join("+"), [].join
print 1, 2
puts
$, = nil
$; = ","
p "a,b".split, "a b".split(" ")
$; = nil
$/ = "\n"
$\ = "!\n"
print 1
$\ = nil
try { $, = 1 }

puts "== constants"
module M
  A = 1
  B = 2
  class C; end
  deprecate_constant :A, :B, :C
end
p M::A
p M.const_get(:B)
p defined?(M::A), M.const_defined?(:A)
p M::C.new.class.name
module M
  p A
end
try { module M; deprecate_constant :Z; end }
$VERBOSE = nil
M::A = 3
$VERBOSE = false
M::A
Warning[:deprecated] = false
M::A

puts "== performance"
Warning[:performance] = true
class Integer
  alias __plus +
  def +(other) = __plus(other)
  def other_name = 1
end
p 1 + 2

puts "== Warning.warn of programs"
class << Warning
  def warn(message, category: :none) = print("#{category.inspect} #{message}")
end
warn "a"
warn "b", category: "experimental"
Warning[:deprecated] = true
M::A
class << Warning
  def warn(message) = print("alone #{message}")
end
M::A
warn "c", category: :experimental
