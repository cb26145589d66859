# Builtins that run no Ruby code are called without a frame: with receivers of one kind and of several, redefined on the way, and with what they don't take.

def repeat(n) = n.times { |i| yield i }

def kinds(list)
  list.map { |v| [v.even?, v.zero?, v.odd?] }
end
def texts(list)
  list.map { |v| v.to_s }
end
def sizes(list)
  n = 0
  list.each { |v| n += v.size; n += 1 if v.empty? }
  n
end
def symbols(list)
  list.map { |v| [v.to_sym, v.length] }
end
def numbers(list)
  list.map { |v| [v.nan?, v.finite?, v.to_f, -v] }
end
repeat(200) { kinds([1, 2, 0]); texts([1.5, 2.5]); sizes(["a", ""]); symbols([:a, :b]); numbers([1.5, 0.0]) }
p kinds([1, 0, 2**70]), texts([1.5, 1, nil, true, :a, "s", 1r]), sizes(["a", "", [], [1], { a: 1 }, :bc])
p symbols([:a, "b"]), numbers([1.5, -0.0, Float::NAN.abs]).map { |l| l.map(&:to_s) }
p (kinds([1, 1.5]) rescue $!.message), (sizes(["a", nil]) rescue $!.message), (texts([BasicObject.new]) rescue $!.class)

# Wrong numbers of arguments, with lines.
def wrong(s, n)
  n == 0 ? s.bytesize : s.bytesize(n)
end
repeat(200) { wrong("abc", 0) }
begin
  wrong("abc", 1)
rescue ArgumentError => e
  p e.message, e.backtrace.map { |l| l[/\d+:in .*/] }
end

# Redefined in the midst of a loop.
def until_changed(list)
  list.map do |v|
    Integer.class_eval { def even? = :mine } if v == 7
    v.even?
  end
end
repeat(200) { until_changed([1, 2, 3]) }
p until_changed([1, 2, 7, 2, 3])
class String
  alias old_getbyte getbyte
end
def bytes_until(s)
  (0...s.bytesize).map do |i|
    String.class_eval { def getbyte(i) = -old_getbyte(i) } if i == 2
    s.getbyte(i)
  end
end
repeat(200) { bytes_until("ab") }
p bytes_until("abcd"), bytes_until("ab")

# A subclass with a method of its own, and a singleton method.
class Text < String
  def bytesize = 1000
end
def measured(list) = list.sum { |s| s.bytesize }
repeat(200) { measured(["a", "bc"]) }
odd = +"abc"
def odd.bytesize = 500
p measured(["a", Text.new("b"), odd, "bc"])

# Cells of literals, each its own; environments of rounds, each its own.
def cells(n)
  (0...n).map { |i| s = +"a"; s << "b" if i.odd?; [s, [i, s], "lit"] }
end
def rounds(n)
  (0...n).map { |i| x = i * 2; -> { x += 1 } }
end
repeat(200) { cells(3); rounds(3) }
p cells(4), rounds(4).map { |l| [l.call, l.call] }
p cells(2).flatten.map(&:frozen?).uniq

# `case` with classes: a `===` of one's own comes on the way.
class Mine; end
def which(list)
  list.map do |v|
    case v
    when Hash then :hash
    when Mine then :mine
    when Comparable then :comparable
    else :other
    end
  end
end
repeat(200) { which([1, {}, nil]) }
p which([1, {}, Mine.new, nil, "a"])
def Mine.===(v) = v.nil?
p which([1, {}, Mine.new, nil, "a"])

# Bytes that are set: of Strings that are frozen, shared, chilled, of other lengths, with odd indexes and values.
def sets(s, n)
  i = 0
  r = nil
  while i < n
    r = s.setbyte(i % 5 - 2, i)
    i += 1
  end
  [r, s.bytes, s.valid_encoding?, s.ascii_only?]
end
p sets(+"héllo wörld", 3000), sets("abc" * 30, 3000)
whole = "shared " * 20
part = whole[3, 100]
p sets(part, 3000).first, whole == "shared " * 20
def tries_set(s, i, v)
  s.setbyte(i, v)
rescue IndexError, FrozenError, TypeError => e
  e.class
end
3000.times { |k| tries_set(whole, k % 5, k) }
p tries_set(whole, 1000, 1), tries_set("x".freeze, 0, 1), tries_set(+"x", 0, 2**70 + 5), tries_set(+"x", 0, 65.9), tries_set(+"x", 0, nil), tries_set(+"", 0, 1), tries_set(+"xyz", -3, 300), tries_set(+"xyz", -4, 1)
