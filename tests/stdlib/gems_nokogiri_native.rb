# nokogiri's native without the gem: trees, the three parsers, XPath with functions, moving between documents, SAX, canonical XML.
require "nokogiri/nokogiri"
# What the gem's own files would bring, as far as it is needed here.
module Nokogiri
  module XML
    class Node
      def initialize(*) = nil
      def document? = Document === self
      def type = node_type
      def name = node_name
      def to_xml(options = 2) = __serialize("UTF-8", "  ", options)
      def find(path, functions = nil, **namespaces) = XPathContext.new(self).tap { |c| namespaces.each { |k, v| c.register_ns(k.to_s, v) } }.evaluate(path, functions)
      def put(node) = add_child_node(node)
    end
    class Document
      def initialize(*) = nil
      attr_reader :errors
    end
    class NodeSet
      include Enumerable
      def initialize(document, list = []) = (@document = document; list.each { |n| push(n) })
      def each = to_a.each { |n| yield n }
      def first = self[0]
    end
    class SyntaxError
      attr_reader :domain, :code, :level, :line, :column, :str1
      def fatal? = level == 3
      def self.aggregate(errors) = errors.first
    end
    module SAX
      class Parser
        Attribute = Struct.new(:localname, :prefix, :uri, :value)
        attr_accessor :document
      end
    end
  end
end
X = Nokogiri::XML
RECOVER = 1
def xml(text, options = RECOVER) = X::Document.read_memory(text, nil, nil, options)
def html(text) = Nokogiri::HTML4::Document.read_memory(text, nil, nil, RECOVER)

d = xml("<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e 'E&#233;'>]>\n<r xmlns='urn:a' xmlns:b='urn:b'><b:x b:y='1' z='&lt;&e;'>t<![CDATA[<c>]]></b:x><!-- n --><?p q?>&e;</r>")
puts d.root.to_xml, d.errors.size, d.root.line
p d.find("//b:x/@b:y", b: "urn:b").map(&:content), d.find("string(//b:x/@z)", b: "urn:b"), d.find("//r").length, d.find("count(//a:r//node())", a: "urn:a")
p d.root.children.map { |n| [n.class.name[/\w+\z/], n.path] }
x = d.find("//b:x", b: "urn:b").first
p x.equal?(d.root.child), x.pointer_id == d.root.child.pointer_id, x.namespace.href, x.namespace.equal?(x.namespace)

puts "-- errors"
["<a><b></a>", "<a b=c>", "<a/><b/>", "<a>&x;&</a>", "", "<a x:y='1'/>"].each { |t| p [t, xml(t).errors.map { |e| [e.line, e.level, e.message.chomp] }] }
begin
  xml("<a><b></a>", 0)
rescue X::SyntaxError => e
  p e.message.chomp
end
laughs = "<!DOCTYPE l [<!ENTITY a 'lol'>" + ("b".."m").map { |c| "<!ENTITY #{c} '#{"&#{(c.ord - 1).chr};" * 10}'>" }.join + "]><l>&m;</l>"
p xml(laughs, RECOVER | 2).errors.map { |e| e.message.chomp }, xml("<a>" * 1000).errors.map { |e| e.message.chomp }

puts "-- HTML as libxml2 reads it"
["<p>a<b>c</p>d", "<table><tr><td>a<tr><td>b</table>", "<p>1<p>2</div>3", "<script>a < b</script>x", "a &copy; &foo; &#65", "<br><input disabled><a href='x y'>z</a>", "<div></p></div>"].each do |t|
  h = html(t)
  puts h.root.__serialize("UTF-8", "  ", 65).inspect
end
p html("<p>é").__serialize(nil, "  ", 64)[/<p>.*/]

puts "-- HTML 5"
h = Nokogiri::HTML5::Document.allocate
h.__open(true)
p h.__parse_html5("<!DOCTYPE html><p>a<table><tr><td>b<svg><path/></svg><select><style>x", [400, 0, 400], false, nil, nil)
puts h.__send__(:html_standard_serialize, false)
p h.find("//svg:path", svg: "http://www.w3.org/2000/svg").length
h = Nokogiri::HTML5::Document.allocate.__open(true)
p((h.__parse_html5("<div>" * 500, [400, 0, 400], false, nil, nil) rescue $!.message))

puts "-- XPath"
d = xml("<r><a i='1'>x</a><a i='2'>y<c class='k l'/></a><a i='3'/></r>")
["//a[2]", "//a[last()]/@i", "//c/ancestor::*", "//a[@i>1]", "//a[position() mod 2 = 1]", "//c/preceding::a", "//a/following-sibling::a[1]", "/r/a[c]|//c", "//*[nokogiri-builtin:css-class(@class, 'l')]"].each { |q| p [q, d.find(q).map(&:path)] }
["sum(//@i)", "concat('a', 1 div 4, true())", "translate('bar','abc','AB')", "substring('12345', 1.5, 2.6)", "normalize-space('  a  b ')", "number('x')", "1 = '1.0'", "string-length('äö')", "round(-2.5)", "not(//zzz)"].each { |q| p [q, d.find(q)] }
["//a[", "//q:a", "$v", "f()", "(" * 1000, "count(1)"].each { |q| p((d.find(q) rescue [$!.class, $!.message.chomp])) }
functions = Class.new { def odd(set) = set.to_a.select { |n| n.content.size.odd? }
                        def gone(set) = (set.first&.unlink; true) }.new
p d.find("nokogiri:odd(//a)", functions).map(&:path), d.find("//a[nokogiri:gone(.)]", functions).length, d.root.to_xml

puts "-- moving"
a, b = xml("<a xmlns:n='urn:n'><n:i>t</n:i></a>"), xml("<b>x</b>")
i = a.root.child
t = i.child
b.root.put(i)
p i.document.equal?(b), t.document.equal?(b), t.parent.equal?(i)
puts b.root.to_xml, a.root.to_xml
b.root.put(X::Text.new("y", b))
b.root.put(X::Text.new("z", b))
puts b.root.to_xml
p((i.put(b.root) rescue $!.message), (i.put(3) rescue $!.message), (b.root.put(b) rescue $!.message))
s = X::NodeSet.new(b, [i, t, i])
p s.length, s.include?(t), (s - X::NodeSet.new(b, [i])).map(&:content), s.delete(t).equal?(t), s.length
p((X::Node.allocate.content rescue $!.class), (X::Document.allocate.root rescue $!.class))

puts "-- events"
class Told
  %i[xmldecl start_document end_document start_element_namespace end_element_namespace characters comment cdata_block processing_instruction reference error warning].each { |m| define_method(m) { |*a| p [m, *a] } }
end
parser = X::SAX::Parser.new
parser.document = Told.new
X::SAX::ParserContext.native_memory("<?xml version='1.0'?><a x='1'>t<b:c xmlns:b='u'/><!--n--></a>", nil).parse_with(parser)
push = X::SAX::PushParser.allocate
push.__send__(:initialize_native, parser)
["<a>t\u00e9".b[0..-2], "\xa9x</", "a>"].each { |part| push.__send__(:native_write, part, false) }
push.__send__(:native_write, "", true)

puts "-- canonical"
puts xml("<b xmlns:z='urn:z' z:c='&lt;' a=\"'\"><!-- c --><c/></b>").canonicalize
deep = 20_000
d = xml("<a>" * deep + "</a>" * deep, RECOVER | 1 << 19)
p d.to_xml(3).size > deep * 7, d.find("count(//a)"), d.root.content
begin
  X::Schema.from_document(nil)
rescue NotImplementedError => e
  puts e.message
end
