# What builtins read of a String while others change it: threads at a wait, handlers of warnings.
require "strscan"

def full_pipe
  r, w = IO.pipe
  w.sync = false
  n = 0
  while (k = w.write_nonblock("-" * 4096, exception: false)).is_a?(Integer)
    n += k
  end
  [r, w, n]
end

# The thread waits in a write; then its String gets other content, and the old one is freed.
def changed_while_waiting(size)
  r, w, n = full_pipe
  s = "a" * size
  w.write("x" * 10)
  t = Thread.new { yield w, s }
  Thread.pass until t.stop?
  s.replace("b" * 10)
  s << "c" * size
  GC.start
  got = +""
  reader = Thread.new { while (part = r.readpartial(1 << 16)); got << part; end rescue nil }
  t.join
  w.close
  reader.join
  got[n..].squeeze
end

p changed_while_waiting(100_000) { |w, s| w.write(s) }
p changed_while_waiting(100_000) { |w, s| w << s }
p changed_while_waiting(50_000) { |w, s| w.flush; w.syswrite(s) }.delete("xabc")

# Long work without a block, over what the String held when it began.
def changed_meanwhile(s)
  whole = s.dup
  t = Thread.new { sleep 0.002; s.replace("zz") }
  result = yield s
  t.join
  s.replace(whole)
  result
end
s = "ab," * 200_000
p changed_meanwhile(s) { |s| s.split(",").size }
p changed_meanwhile(s) { |s| s.split(/,/).size }
p changed_meanwhile(s) { |s| s.gsub(",", ";").size }
p changed_meanwhile(s) { |s| s.gsub(/,/, '<\0>').size }
p changed_meanwhile(s) { |s| s.scan(",").size }
p changed_meanwhile(s) { |s| s.chars.size }
p changed_meanwhile(s) { |s| s.bytes.size }
p changed_meanwhile(s) { |s| s.lines(",").size }
p changed_meanwhile(s) { |s| s.codepoints.sum }
t = "\u00e9\u0301\r\n" * 50_000
p changed_meanwhile(t) { |s| s.grapheme_clusters.size }

# A handler of warnings changes the String that a Regexp is matched against.
def Warning.warn(message, category: nil)
  $act&.call
end
$VERBOSE = true
text = +"\u00e9" * 40
sc = StringScanner.new(text)
sc.pos = 60
$act = -> { text.replace("x") }
sc.scan(Regexp.new(".", Regexp::NOENCODING))
p text
text.replace("\u00e9" * 40)
p text.index(Regexp.new("zz", Regexp::NOENCODING), 30)
$act = nil

sc = StringScanner.new(+"test string")
sc.pos = 8
class String
  def dump = ObjectSpace.garbage_collect && raise
end
p sc
