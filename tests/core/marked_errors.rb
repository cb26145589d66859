# The piece of the line that an error report marks, and the node of prism at which a level of a backtrace stands.
require "error_highlight"
def report
  yield
rescue Exception => e
  puts e.detailed_message(highlight: false)
end

def two(a, b) = a
def words(a:) = a
report { two(1) }
report { words(b: 1) }
report { [1].first(1, 2) }
report { Integer("1", 2, 3, 4) }
report { eval("def texts(a) = a; texts") }
report { nil.größe }
report { "é".nothing }
list = [1]
report { list ["x"] += 42 }
report { list [0] += nil }
report { Object::
  Nothing }
report do
  list = [nil]
  list [
    0
  ] +=
    42
end
report do
  nil.nothing
rescue NoMethodError => e
  def e.backtrace_locations = []
  raise
end

format = ErrorHighlight::DefaultFormatter
long = "1000000000000000000000000000000000000000000000000000000000000000000000000000000"
[nil, 80, 40, 20].each do |width|
  format.max_snippet_width = width
  report { eval("begin; #{long} + 1.nothing { #{long} }; end", binding, __FILE__, 1) }
  report { [1].first.nothing + 1000000000000000000000000000000000000000000000000000000000000000000000000000000000 }
  report { 1000000000000000000000000000000000000000000000000000000000000000000000000000000000 + 1.nothing }
  report { 100000000000000000000000000000000000000000000000000000 + 1.nothing { 1000000000000000000000000000000000 } }
end
format.max_snippet_width = 3
p format.max_snippet_width

nodes = RubyVM::AbstractSyntaxTree
p nodes.node_id_for_backtrace_location(caller_locations(0)[0]).class
begin
  two(1)
rescue ArgumentError => e
  callee, from = e.backtrace_locations.first(2).map { |l| nodes.node_id_for_backtrace_location(l) }
  require "prism"
  left, found = [Prism.parse_file(__FILE__).value], {}
  while (node = left.pop)
    found[node.node_id] = node
    left.concat(node.compact_child_nodes)
  end
  p found[callee].class, found[callee].name, found[from].class, found[from].name
end
begin
  nodes.node_id_for_backtrace_location(1)
rescue TypeError => e
  p e.message
end
