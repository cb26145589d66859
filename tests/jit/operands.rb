# Operators in hot code that meet other kinds of operands than before, and values that lie at an edge.
def succ(v) = v.succ
def minus(v) = -v
def equal(a, b) = a == b
def less(a, b) = a < b
def plus(a, b) = a + b
def over(a, b) = a / b
def modulo(a, b) = a % b
def left(a, b) = a << b
def right(a, b) = a >> b
def both(a, b) = a & b
def at(a, b) = a[b]
def put(a, b, c) = a[b] = c
def no(v) = !v
def size(v) = v.size
def power(a, b) = a ** b
def branch(a, b) = a < b ? 1 : a == b ? 2 : a >= b ? 3 : 4
class Own
  def ==(o) = [:equal, o]
  def <(o) = [:less, o]
  def >=(o) = nil
  def +(o) = [:plus, o]
  def -@ = :minus
  def ! = :no
  def succ = :next
  def [](k) = [:at, k]
  def []=(k, v); @k = v; end
  def size = :large
  def <<(o) = [:left, o]
  def coerce(o) = [o, 2]
end
BIG = 2**64
EDGE = 4611686018427387903
VALUES = [0, -1, 7, EDGE, -EDGE - 1, BIG, 9007199254740993, 9007199254740992.0, -0.0, -2.5, 1e300, Float::NAN, Float::INFINITY, nil, "s", :s, [1], {a: 1}, Own.new]
def show(v) = v.is_a?(Own) ? "own" : v.is_a?(Array) && v.any?(Own) ? v.map { |w| show(w) }.to_s : v.inspect
def try = show(yield)
.then { |s| s.size > 40 ? s[0, 20] + s[-10..] : s } rescue $!.class.to_s
ONE = %i[succ minus no size]
TWO = %i[equal less plus over modulo left right both at power branch]
WARM = {succ: [1, 2.5], minus: [1, 2.5], no: [nil, 3], size: [[1], {}]}
WARM_TWO = {integers: [3, 4], floats: [1.5, 2.25], mixed: [2.5, 3]}
out = []
ONE.each do |m|
  WARM[m].each do |w|
    400.times { send(m, w) rescue nil }
    out << [m, w, VALUES.map { |v| try { send(m, v) } }]
  end
end
short = [0, -1, 3, 63, EDGE, 9007199254740993, 9007199254740992.0, -0.0, 0.5, Float::NAN, BIG, nil, "s", Own.new]
TWO.each do |m|
  WARM_TWO.each do |kind, (a, b)|
    next if kind != :integers && %i[left right both at].include?(m)
    copy = :"#{m}_#{kind}"
    eval("def #{copy}(a, b) = #{{equal: "a == b", less: "a < b", plus: "a + b", over: "a / b", modulo: "a % b", left: "a << b", right: "a >> b", both: "a & b", at: "a[b]", power: "a ** b", branch: "a < b ? 1 : a == b ? 2 : a >= b ? 3 : 4"}[m]}")
    400.times { send(copy, a, b) }
    VALUES.each do |v|
      row = short.map do |w|
        next "large" if %i[left right power].include?(m) && (w.is_a?(Integer) || w.is_a?(Float)) && !(w.abs <= 64) || m == :power && v.is_a?(Integer) && w.is_a?(Integer) && w != 3 || m == :at && w.is_a?(Float) && w.nan?
        try { send(copy, v.dup, w) }
      end
      out << [copy, v, row]
    end
  end
end
short_name = ->(s) { s.gsub(/[a-z]{2,}(?=Error)/, "").gsub(/(?<=\w)(alse|rue|il)\b/, "") }
out.each { |m, v, row| puts "#{m} #{show(v)}: #{row.map(&short_name).join(" ")}" if ![:s, "s"].include?(v) || m.to_s.end_with?("integers") }
# Elements.
list = [1, 2, 3]
400.times { |i| put(list, i % 3, i); at(list, i % 3) }
p try { put(list, 5, 1) }, try { put(list, -1, 2) }, try { put(list, -9, 2) }, try { put(list, 2.5, 7) }, try { put(list, nil, 7) }, list
p try { at(list, -1) }, try { at(list, -99) }, try { at(list, 99) }, try { at(list, 1.9) }, try { at(list, 0..1) }, try { at("text", 1) }, try { at({1 => 2}, 1) }, try { at(Hash.new { |h, k| k * 2 }, 4) }
p try { put([1].freeze, 0, 1) }, try { put({}.freeze, 0, 1) }, try { put(+"abc", 1, "x") }
class Sub < Array
  def [](k) = :sub
end
p at(Sub.new([1, 2]), 0), put(Sub.new, 2, 1)
ident = {}.compare_by_identity
k = "k"
put(ident, k, 1)
p at(ident, k), at(ident, "k".dup)
h = {}
s = +"key"
put(h, s, 1)
s << "more"
p h
# Keys whose `hash` and `eql?` change what the loop relies on.
class Key
  def hash = (Integer.class_eval { def *(o) = :changed } if $change; 1)
  def eql?(o) = true
end
table = {Key.new => 5}
key = Key.new
found = []
600.times { |i| $change = i == 300; v = table[key]; found << v * 2 if i % 150 == 0 || i == 300 }
p found
