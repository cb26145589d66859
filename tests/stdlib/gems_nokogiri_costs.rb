# What a document may be made of so that nokogiri's natives take long: each line is done in a second of CPU at most, and tells so if it takes ten (60 where each safepoint collects). What grows with the square takes longer than the test may.
require "nokogiri/nokogiri"
$stdout.sync = true
X = Nokogiri::XML
HUGE = 1 | 1 << 19
NOENT = 2
N = 50_000
def xml(text, options = HUGE) = X::Document.allocate.__open(false).tap { |d| d.__parse_xml(text, options, nil, []) }
def html(text) = X::Document.allocate.__open(true).tap { |d| d.__parse_html(text, HUGE) }
def html5(text) = X::Document.allocate.__open(true).tap { |d| d.__parse_html5(text, [-1, 0, -1], false, nil, nil) }
def find(node, path) = node.__evaluate(path, [], [], nil)
MOST = ENV["ZAKURO_TEST_SCALE"] == "small" ? 60 : 10
def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

def cost(name)
  began = now
  found = yield
rescue StandardError, NoMemoryError => e
  found = e.class
ensure
  puts "#{name}: #{found.inspect}#{" took #{now - began} s" if now - began > MOST}"
end

puts "-- parsers"
cost("references in an attribute") { find(xml("<r a='#{"&amp;" * 200_000}'/>"), "string-length(/r/@a)") }
cost("comments") { html("<p>" + "<!---->" * N * 2).root.path }
cost("comments that end otherwise") { html("<p>" + "<!----!>" * N * 2).root.path }
cost("end tags that close nothing") { html("<div>" * N + "</p>" * N).root.path }
cost("end tags behind what they can't close") { html("<p><table><tr><td><div>" + "<span>" * N + "</p>" * N).root.path }
cost("misplaced tags") { html("<body>" + "<span>" * N + "<body>" * N).root.path }
cost("a large entity that stays a reference") { find(xml("<!DOCTYPE r [<!ENTITY e '#{"x" * 1_000_000}'>]><r>#{"&e;" * N}</r>"), "string-length(/r)") }
laughs = "<!DOCTYPE r [<!ENTITY a0 'ha'>#{(1..30).map { |i| "<!ENTITY a#{i} '#{"&a#{i - 1};" * 10}'>" }.join}]>"
cost("laughs") { find(xml("#{laughs}<r>&a30;</r>", HUGE | NOENT), "string-length(/r) < 20000000") }
cost("laughs in an attribute") { xml("#{laughs}<r a='&a30;'/>", HUGE | NOENT).root }
cost("many prefixes") { xml("<r #{(1..5000).map { |i| "xmlns:p#{i}='u#{i}'" }.join(" ")}>" + "<p1:a/>" * N + "</r>").root.path }
cost("a prefix from far above") { xml("<p:r xmlns:p='u'>" + "<a>" * N + "<b p:x='1'>" * N).root.path }
cost("many declared attributes") { xml("<!DOCTYPE r [<!ATTLIST a #{(1..10_000).map { |i| "x#{i} CDATA '1'" }.join(" ")}>]><r>" + "<a/>" * N + "</r>").root.path }
cost("deep foreign elements") { html5("<svg>" + "<g>" * 10_000).root.path }
cost("raw text without an end") { html5("<script>" * N).root.path }
cost("attributes of one tag") { html5("<p #{(1..100_000).map { |i| "abcdefgh#{i}" }.join(" ")}>") }
cost("names of elements") { find(html5((1..N).map { |i| "<abcdefgh#{i}></abcdefgh#{i}>" }.join), "count(//body/*)") }

puts "-- a push parser that gets little at a time"
parser = X::SAX::Events.allocate.__open(false, "", 1, false, [])
cost("a long comment") do
  "<r><!--#{"x" * 200_000}--></r>".each_char.each_slice(4) { |part| parser.feed(part.join, false) }
  parser.feed("", true)
  found = []
  while (e = parser.shift) do found << [e[0], e[1].to_s.size] end
  found
end
parser = X::SAX::Events.allocate.__open(false, "", 1, false, [])
cost("places, where what was read is gone") do
  3.times { parser.feed("<r>" + "<a/>" * 40_000, false); nil while parser.shift }
  parser.feed("\n<b/>", false)
  nil while parser.shift
  parser.place
end

puts "-- deep trees"
{ xml: xml("<a>" * N + "x"), div: html("<div>" * N + "x"), b: html("<b>" * N + "x"), html5: html5("<div>" * 3000 + "x") }.each do |name, tree|
  cost("#{name}: written") { [tree.__serialize("UTF-8", "  ", 1).size, tree.send(:html_standard_serialize, false).size] }
  cost("#{name}: text") { [tree.root.content, find(tree, "string((//*)[20])")] }
  cost("#{name}: copied, compared") { [X::Document.allocate.initialize_copy_with_args(tree, 1).root.path, find(tree, "//*").to_a.last.send(:compare, tree.root)] }
  cost("#{name}: axes") { %w[//*//* //*/ancestor::* //*/following::* //*/preceding::*].map { |path| find(tree, "count(#{path})") } }
  cost("#{name}: unlinked") { find(tree, "//*").unlink.length }
end

puts "-- wide trees"
wide = xml("<r>" + "<a>x</a><b/>" * N + "</r>")
cost("siblings") { [find(wide, "count(//a/following-sibling::a)"), find(wide, "count(//b/preceding-sibling::a)")] }
cost("before and behind") { [find(wide, "count(//a/following::a)"), find(wide, "count(//a/preceding::b)")] }
cost("unions") { find(wide, "count(//a | //b | //a/.. | //b/preceding-sibling::a)") }
cost("a fragment") do
  fragment = X::Node.allocate
  fragment.__create(11, nil, wide, nil)
  wide.root.children.to_a.each { |c| fragment.send(:add_child_node, c) }
  find(fragment, "count(.//a | .//b)")
end
d = xml("<r><a i='1'><c/></a><b/><a i='2'><c><a i='3'/></c></a><d/></r>")
cost("the same nodes, in order") do
  ["//a//c", "//c/ancestor::*", "//c/ancestor-or-self::*", "//a/following::*", "//a/preceding::*", "//d/preceding::*", "//a/following-sibling::*", "//b/preceding-sibling::* | //d/preceding-sibling::*",
   "//a/descendant-or-self::*", "//@i/following::*", "//@i/preceding::*", "//@i/descendant-or-self::node()", "//a/ancestor::*[1]", "//a/following::*[1]"].map do |path|
    find(d, path).to_a.map { |n| n.node_name + n.send(:get, "i").to_s }.join(" ")
  end
end

puts "-- nested expressions, where the native stack is small: a value, or an error of XPath's"
Fiber.new do
  [["(", ")"], ["not(", ")"], ["a[", "]"], ["concat('a',", ")"]].each do |open, shut|
    cost(open) { [20, 199, 201].map { |n| find(d, open * n + "1" + shut * n) && n < 200 rescue n > 20 && $!.message == "Recursion limit exceeded" } }
  end
end.resume

puts "-- texts that are larger than their trees, in a VM with a limit"
RubyVM.new("names", "-e", <<~'RUBY', memory_limit: 64 << 20).start.join
  require "nokogiri/nokogiri"
  d = Nokogiri::XML::Document.allocate.__open(false)
  top = Nokogiri::XML::Element.allocate
  top.__create(1, "r", d, nil)
  d.send(:add_child_node, top)
  name = "n" * 1_000_000
  1000.times { e = Nokogiri::XML::Element.allocate; e.__create(1, name, d, nil); top.send(:add_child_node, e); top = e if e.parent.parent }
  [-> { d.__serialize("UTF-8", "  ", 0) }, -> { d.__serialize("UTF-8", "  ", 64) }, -> { d.send(:html_standard_serialize, false) }, -> { top.path }].each do |work|
    p work.call.size
  rescue NoMemoryError
    puts "none"
  end
RUBY
