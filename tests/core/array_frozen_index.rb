# What is refused first: the place or the frozen Array or String.
def refused
  yield
rescue IndexError, FrozenError, TypeError
  puts "#{$!.class}: #{$!.message}"
end
a = [1].freeze
refused { a[-6] = 1 }
refused { a[-1] = 1 }
refused { a[0] = 1 }
refused { a[5] = 1 }
refused { a[-6, 1] = 1 }
refused { a[-6..2] = 1 }
refused { a["x"] = 1 }
refused { a.insert(-6, 1) }
refused { a.fill(1, -6) }
refused { a[-6] ||= 1 }
refused { a[-6], _ = 1, 2 }
class Sub < Array; end
b = Sub[1].freeze
refused { b[-6] = 1 }
c = [1]
refused { c[-6] = 1 }
p a.delete_at(9)
refused { a.delete_at(0) }
refused { a.fill(1, "x") }
refused { a.fill(1) }
refused { a.rotate!("x") }
s = "a".freeze
refused { s[-6] = "a" }
refused { s[9] = "a" }
refused { s[0] = 1 }
refused { s["q"] = "x" }
refused { s[/q/] = "x" }
refused { s[0] = "x" }
refused { s[0, 1] = "x" }
refused { s["a"] = "x" }
refused { s.insert(-9, "x") }
refused { s.insert(0, "x") }
refused { s.setbyte(9, 1) }
refused { s.setbyte(0, 1) }
