# Everyday calls: processor time in nanoseconds each. `compare` beside this file takes two interpreters by turns and prints ratios.
require "cgi/escape"
require "time"

LIST, BIG, TEXT = (0...1000).to_a, 3**3000, "a,b,c,d,e,f"
PAIRS, OPTIONS = (1..100).to_h { |i| [i, -i] }, { a: 1, b: 2 }
PLAIN, SINGLE = Object.new, Object.new.tap { |o| def o.own = 1 }
READER, WRITER = IO.pipe
STRUCT, DATA_CLASS = Struct.new(:a, :b), Data.define(:a, :b)
BROKEN, SPECIAL, MARKUP = "abc\xff\xfedef" * 20, "<>&\"'" * 20, "<a href='x'>Tom & Jerry</a>"
LOG = '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326'
LOG_LINE = /\A(\S+) (\S+) (\S+) \[([^\]]+)\] "(\S+) (\S+) (\S+)" (\d+) (\d+)\z/
require "stringio"
STREAM = StringIO.new
MOMENT = Time.at(Rational(1_234_567_890_123_456_789, 10**10))
SET, MIXED = Set.new(1..100), (1..100).map { |i| i.odd? ? i : i.to_f }
ENDLESS, FIBER = LIST.cycle, Fiber.new { loop { Fiber.yield } }
def plain(a) = a
def rest(**options) = options
def nameless(**) = 1
def some(a: 1, **options) = options
BLOCK, METHOD = proc { |x| x }, method(:plain)
CALLS = {
  "const_set" => -> { Object.const_set(:SOME, 1) }, "nil.to_c" => -> { nil.to_c }, "Set#delete" => -> { SET << 0; SET.delete(0) }, "Set#min" => -> { SET.min },
  "bsearch" => -> { LIST.bsearch { |x| x >= 333 } }, "then" => -> { 1.then }, "lazy" => -> { (1..50).lazy.flat_map { |x| [x, x] }.to_a }, "class" => -> { SINGLE.class }, "!" => -> { !PLAIN },
  "!=" => -> { PLAIN != nil }, "nil?" => -> { PLAIN.nil? }, "length" => -> { LIST.length }, "xmlschema" => -> { MOMENT.xmlschema(10) }, "iso8601" => -> { Time.iso8601("2020-01-02T03:04:05Z") },
  "sort mixed" => -> { MIXED.sort }, "sum of Rationals" => -> { (1..50).sum { |i| Rational(1, i) } }, "3**2000" => -> { 3**2000 }, "to_s of big" => -> { BIG.to_s }, "pow(a, b)" => -> { BIG.pow(12_345_678_901, 10**40 + 7) },
  "combination" => -> { LIST.first(10).combination(4) { nil } }, "**options" => -> { rest(**OPTIONS) }, "nameless **" => -> { nameless(**OPTIONS) }, "a: and **" => -> { some(a: 1, b: 2) },
  "Float(exception:)" => -> { Float("1.5", exception: false) }, "send" => -> { send(:plain, 1) }, "Proc#call" => -> { BLOCK.call(1) }, "Method#call" => -> { METHOD.call(1) }, "public_send" => -> { 1.public_send(:+, 1) },
  "unicode_normalize" => -> { "éé".unicode_normalize(:nfd) }, "scrub" => -> { BROKEN.scrub }, "File.join" => -> { File.join("abc", "def", "g.rb") }, "File.realpath" => -> { File.realpath("/usr/lib/../bin") },
  "gsub" => -> { "abcabc".gsub(/[ab]/, "a" => "1", "b" => "2") }, "format" => -> { format("%05d %s", 12, "a") }, "map(&:to_s)" => -> { LIST.map(&:to_s) }, "sort_by" => -> { PAIRS.sort_by { |_, v| v } },
  "group_by" => -> { LIST.group_by { |x| x % 7 } }, "each_slice" => -> { LIST.each_slice(3) { nil } }, "zip" => -> { LIST.zip(LIST) }, "Struct.new" => -> { STRUCT.new(1, 2).a }, "Data.new" => -> { DATA_CLASS.new(a: 1, b: 2).a },
  "raise" => -> { begin; raise "x"; rescue; nil; end }, "catch" => -> { catch(:a) { throw :a } }, "Fiber#resume" => -> { FIBER.resume }, "Enumerator#next" => -> { ENDLESS.next }, "<<" => -> { +"" << "ab" },
  "=~ of a letter" => -> { /a/ =~ TEXT; $1 }, "=~ with groups" => -> { /(\w+),(\w+)/ =~ TEXT; $1 }, "case of Regexps" => -> { case TEXT when /xyz/ then 1 when /qqq/ then 2 when /a/ then $1 end },
  "match of a log line" => -> { LOG_LINE.match(LOG) }, "StringIO#write" => -> { STREAM.rewind; STREAM.write("abc") }, "count" => -> { TEXT.count("a") }, "delete" => -> { TEXT.delete(",") },
  "squeeze" => -> { TEXT.squeeze }, "bytes" => -> { TEXT.bytes }, "codepoints" => -> { TEXT.codepoints }, "rjust" => -> { TEXT.rjust(20) }, "Symbol#name" => -> { :abc.name },
  "split" => -> { TEXT.split(",") }, "tr" => -> { TEXT.tr("a-y", "b-z") }, "each_char" => -> { TEXT.each_char { nil } }, "inspect" => -> { [1, "a", :b, nil, { a: 1 }].inspect },
  "Marshal" => -> { Marshal.load(Marshal.dump([1, "a", :b, nil, { a: 1 }])) }, "dup" => -> { PLAIN.dup }, "flatten" => -> { [[1, 2], [3, [4, 5]]].flatten }, "pack" => -> { [1, 2, 3].pack("NnC") },
  "Time.now" => -> { Time.now }, "strftime" => -> { MOMENT.strftime("%Y-%m-%d %H:%M:%S") }, "rand(10)" => -> { rand(10) }, "shuffle" => -> { LIST.shuffle }, "instance_variable_get" => -> { PLAIN.instance_variable_get(:@a) },
  "respond_to?" => -> { PLAIN.respond_to?(:to_s) }, "is_a?" => -> { PLAIN.is_a?(Comparable) }, "case of Strings" => -> { case TEXT when "a" then 1 when "b" then 2 when "c" then 3 end },
  "a pipe" => -> { WRITER.write("x"); READER.readpartial(10) }, "escapeHTML" => -> { CGI.escapeHTML(MARKUP) }, "escapes alone" => -> { CGI.escapeHTML(SPECIAL) }
}
require_relative "each_call"
