require "strscan"

def try = yield.inspect rescue "#{$!.class}: #{$!.message}"

# A tokenizer, as programs write them.
source = "let x1 = 3.14 * (foo_bar + 'it''s') -- note\n"
s = StringScanner.new(source)
tokens = []
until s.eos?
  if s.skip(/\s+/) then next
  elsif s.skip(/--.*/) then next
  elsif t = s.scan(/\d+(?:\.\d+)?/) then tokens << [:number, t]
  elsif t = s.scan(/[a-z_]\w*/i) then tokens << [:name, t]
  elsif s.scan(/'((?:[^']|'')*)'/) then tokens << [:string, s[1]]
  else tokens << [:op, s.getch]
  end
end
p tokens

s = StringScanner.new("Fri Dec 12 1975 14:39")
p s.scan(/Fri /), s.pos, s.pre_match, s.post_match, s.matched, s.matched_size, s.rest, s.rest_size
p s.check(/Dec/), s.pos, s.match?(/\w+/), s.exist?(/5/), s.check_until(/2/), s.skip_until(/12/), s.matched, s.pre_match, s.post_match
p s.scan_until(/nothing/), s.matched?, s.matched, s[0], s.pre_match, s.captures, s.values_at(0), s.size
p s.unscan.pos rescue p $!.class, $!.message
p s.scan_full(/ \d+/, true, true), s.scan_full(/ /, false, false), s.search_full(/\d+/, true, true)
p s.inspect, s.peek(3), s.peek(100), s.rest?, s.terminate.inspect, s.eos?, s.scan(/x/), s.getch, s.get_byte

# Groups.
s = StringScanner.new("2024-11-05 rest")
s.scan(/(?<year>\d+)-(?<month>\d+)(-(?<none>x)?(?<day>\d+))?/)
p s[:year], s["month"], s[:none], s[1], s[-1], s[99], try { s[:nope] }, s.values_at(0, 1, -1, 9), s.captures, s.size

# Anchors: what lies behind the pointer does not count, unless asked for.
s = StringScanner.new("ab\ncd")
s.scan(/a/)
p s.scan(/^b/), s.bol?, s.getch, s.beginning_of_line?, s.scan(/\Acd/)
f = StringScanner.new("ab\ncd", fixed_anchor: true)
f.scan(/a/)
p f.scan(/^b/), f.scan(/b\n/), f.scan(/^cd$/), f.fixed_anchor?, f.scan(/\A/)
s = StringScanner.new("foobar")
s.pos = 3
p s.scan(/(?<=foo)bar/), s.scan(/bar\b/)

# Bytes, characters, encodings.
s = StringScanner.new("äöü")
p s.getch, s.charpos, s.pos, s.get_byte, s.pos, s.getch, s.rest
s.reset
p s.scan(/ä/), s.scan(/./), s.pos, s.charpos
p try { s.pos = 99 }, (s.pos = -2), s.rest
p try { StringScanner.new("a").scan(1) }, try { StringScanner.new(nil) }, try { StringScanner.new("a").unscan }

# The scanned String grows and changes.
s = StringScanner.new(+"ab")
s << "cd"
p s.scan(/abc/), s.string, s.concat("e").rest
s.string = "new"
p s.pos, s.scan(/n/), s.dup.scan(/e/), s.pos
s = StringScanner.new(+"shrinking")
s.scan(/shrink/)
s.string.replace("s")
p s.rest, s.scan(/x/), s.eos?, s.matched
