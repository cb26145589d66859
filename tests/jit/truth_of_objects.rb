# `nil?` and `!` in loops: objects whose class, or who themselves, answer otherwise from some time on, and again as before.
class Plain; end
class Under < Plain; end
many = [Plain.new, Under.new, Object.new, Plain.new]
def asks(list, n)
  c = 0
  i = 0
  while i < n
    v = list[i % 4]
    c += 1 if v.nil?
    c += 10 unless !v
    yield if i == n / 2
    i += 1
  end
  c
end
p asks(many, 4000) {}
p asks(many, 4000) { class Plain; def nil? = true; end }
p asks(many, 4000) { class Plain; remove_method :nil?; end }
p asks(many, 4000) { class Under; def ! = true; end }
p asks(many, 4000) { def (many[0]).nil? = 5 }
p asks(many, 4000) { many[3].instance_eval { @a = 1 } }
p asks(many, 4000) { class Under; remove_method :!; end }
30.times { |k| c = Class.new; c.define_method(:nil?) { k.odd? }; p(asks([c.new, c.new, Object.new, 1], 400) {}) if k < 2; GC.start if k % 10 == 0 }
