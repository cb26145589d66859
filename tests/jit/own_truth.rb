# A program's own subclasses of core classes, and single objects of these, that answer to `!` and `nil?` in their own way. Proxies of libraries do: that ends no machine code.
class Text < String; end
class Proxy < Module; end
class Numbers < Array; end
module Absent
  def nil? = true
end
single = +"single"
VALUES = [1, nil, true, :a, 0.5, "a", [], {}, Text.new("t"), Proxy.new, Numbers.new, Class.new, Comparable, single, Object.new]
def ask(v) = [!v, v.nil?, v ? 1 : 2, (v.nil? ? 3 : 4)]
def all = 40.times.map { VALUES.map { |v| ask(v) } }.uniq
def count(n)
  c = 0
  i = 0
  while i < n
    c += 1 unless VALUES[i % 15].nil?
    c += 2 if !VALUES[i % 15]
    yield if i == n / 2
    i += 1
  end
  c
end
def show(name)
  puts name
  all.each { |row| puts "  #{row.map { |a, b, c, d| "#{a ? "!" : "-"}#{b ? "n" : "-"}#{c}#{d}" }.join(" ")}" }
end
show("as they are")
CHANGES = [
  ["class Text; def ! = true; end", "class Text; remove_method :!; end"],
  ["class Text; def nil? = true; end", "class Text; remove_method :nil?; end"],
  ["class Proxy; def ! = true; def nil? = 5; end", "class Proxy; remove_method :!, :nil?; end"],
  ["class Numbers; include Absent; end", "module Absent; remove_method :nil?; end"],
  ["class << VALUES[13]; def ! = 7; end", "class << VALUES[13]; remove_method :!; end"],
]
def try_out(change, back)
  c = count(900) { eval(change) }
  show("#{change}: #{c}")
  c = count(900) { eval(back) }
  show("#{back}: #{c}")
end
CHANGES.each { |change, back| try_out(change, back) }
begin
  class Proxy
    undef_method :!
    undef_method :nil?
  end
  ask(VALUES[9])
rescue NoMethodError => e
  puts e.message[/undefined method '.*' for/]
end
VALUES[9] = 1
# Machine code goes on, whatever there is.
def add(a, b) = a.nil? ? 0 : a + b
def sum(n) = n.times.inject(0) { |s, i| add(s, i) }
20.times { sum(500) }
before = RubyVM::JIT.stat[:exits][:others]
20.times { sum(500) }
grown = RubyVM::JIT.stat[:exits][:others] - before
p grown < 1000 || grown
# What a builtin module answers, or every String, is another matter.
try_out("class << Comparable; def nil? = true; end", "class << Comparable; remove_method :nil?; end")
class String
  def nil? = true
end
show("String#nil?")
class String
  remove_method :nil?
end
show("as before")
