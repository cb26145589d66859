# While the block of update decides, its receiver takes no keys; what the block takes away stays away.
def t
  r = yield
  p r
rescue => error
  puts "#{error.class}: #{error.message[0, 100]}"
end

t { h = { a: 1 }; h.update({ a: 2 }) { h.rehash } }
t { h = { a: 1 }; h.update({ a: 2 }) { h[:b] = 1 } }
t { h = { a: 1 }; h.update({ a: 2 }) { h.replace({}) } }
t { h = { a: 1, b: 2 }; h.update({ a: 2 }) { h.delete(:a); 5 } }
t { h = { a: 1, b: 2 }; h.merge!({ a: 2, c: 3 }) { h.clear; 5 } }
h = { a: 1, b: 2 }
t { h.update({ a: 10, b: 20 }) { |key, _, new| h.freeze if key == :b; new } }
p h
t { { a: 1 }.update({ a: 2 }) { raise "no" } }

t { {}.fetch("gumby" * 20) }
t { {}.fetch("x" * 63) }
t { {}.fetch("x" * 64) }
t { {}.fetch_values([1] * 40) }
converts = Object.new
def converts.to_hash = {}
def converts.eql?(_) = true
p({}.eql?(converts))
t { { a: 1 }.flatten("x") }
