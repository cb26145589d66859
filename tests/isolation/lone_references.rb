# A message that is nothing but a large String, an Array of immediates, or a part of a frozen graph travels as a reference, without a graph around it.
there = RubyVM::Channel.new
back = RubyVM::Channel.new
echo = RubyVM.new("echo", "-e", <<~'RUBY').start(there, back)
  class Text < String; attr_accessor :note; end
  there, back = RubyVM::ARGV
  kept = []
  while (x = there.recv)
    kept << x if x == :keep || kept.last == :keep
    kept.clear if x == :drop
    GC.start if x == :collect
    back << x
  end
RUBY
send = ->(x) { there << x; back.recv }

puts "-- Strings"
text = "é" * 200
[
  "x" * 256, "x" * 255, text, text.b, text.dup.force_encoding("UTF-16LE"), text.dup.force_encoding("Shift_JIS"), ("\xff" * 300), ("a" * 300).encode("US-ASCII"),
  ("b" * 300).freeze, "literal" * 50, (text + "tail")[100..], ("c" * 100_000)[5000, 300], ("d" * 100_000)[1..], +"", "e" * 1_000_000
].each_with_index do |s, i|
  s.valid_encoding? if i.odd?
  got = send.(s)
  same = got == s && got.encoding == s.encoding && got.valid_encoding? == s.valid_encoding? && got.frozen? == s.frozen? && got.class == String && got.hash == s.hash
  puts "#{i} differs" unless same
  next if s.frozen?
  got << "!"
  s << "?"
  puts "#{i} is shared" unless got.end_with?("!".dup.force_encoding(s.encoding)) && !got.b.include?("?") && send.(s).b.end_with?("?")
rescue Encoding::CompatibilityError
  got.setbyte(0, 90)
  puts "#{i} is shared" if s.getbyte(0) == 90
end
class Text < String; attr_accessor :note; end
t = Text.new("t" * 300)
t.note = 5
got = send.(t)
p got.class, got.note, got.size
plain = +("p" * 300)
plain.instance_variable_set(:@note, [1])
p send.(plain).instance_variable_get(:@note)

puts "-- Arrays"
numbers = (0...1000).to_a
[numbers, numbers[10, 500], numbers[990..], numbers.dup.freeze, numbers.map(&:to_f), [nil] * 64, [:a, 1, true] * 30, numbers.first(31), numbers.first(32)].each_with_index do |a, i|
  got = send.(a)
  puts "#{i} differs" unless got == a && got.frozen? == a.frozen? && got.class == Array
  next if a.frozen?
  got[0] = "other"
  a[1] = "another"
  puts "#{i} is shared" unless a[0] != "other" && got[1] != "another" && send.(a)[1] == "another"
end
class List < Array; end
p (List.new(numbers).then { |l| RubyVM.fork(l) { |x| x.class.name + x.size.to_s }.value })

puts "-- frozen graphs"
HASH = Ractor.make_shareable((0...500).to_h { |i| ["k#{i}", ["v#{i}", i]] })
LIST = Ractor.make_shareable((0...500).map { |i| "v#{i}" })
p 5.times.map { send.(HASH) == HASH && send.(LIST) == LIST }.uniq
first = send.(HASH)
p first.equal?(send.(HASH)), first.frozen?, first["k7"].equal?(send.(HASH)["k7"]), send.(first["k7"]).equal?(first["k7"]), send.(first["k7"][0])
# Held or let go in between, here and there.
ok = 20.times.map do |i|
  send.(:keep) if i % 5 == 1
  send.(:drop) if i % 5 == 3
  send.(:collect)
  first = nil if i == 7
  GC.start if i.odd?
  send.(HASH)["k#{i}"] == ["v#{i}", i] && send.(LIST)[i] == "v#{i}" && send.([HASH, LIST]) == [HASH, LIST]
end
p ok.uniq
# Thrown away by all, made again.
20.times do |i|
  h = Ractor.make_shareable((0...300).to_h { |k| [k, "#{i} #{k}"] })
  g = send.(h)
  puts "#{i} is another" unless g == h && send.(g).equal?(g) && g[299] == "#{i} 299"
  h = g = nil
  GC.start
  send.(:collect)
end
p there.queued_bytes, back.queued_bytes
there << nil
echo.join

puts "-- weights and ends"
c = RubyVM::Channel.new(bytes: 100_000)
p c.try_send("x" * 60_000), c.try_send(numbers), c.try_send("x" * 60_000), c.queued_bytes >= 68_000
c.recv
c << HASH
p c.size, c.queued_bytes > 30_000
c.close
p c.recv == numbers, c.recv == HASH, c.size
