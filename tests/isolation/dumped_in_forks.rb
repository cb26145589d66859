# A class that says itself what travels (marshal_dump, _dump) does so in a fork, too, which has the class from an image.
class Dumped
  def initialize = @lock = Mutex.new
  def marshal_dump = 7
  def marshal_load(data) = @data = data
  attr_reader :data
end

class DumpedText
  def initialize(text) = @text = text
  def _dump(_level) = "<#{@text}>"
  def self._load(text) = new(text)
  attr_reader :text
end

p RubyVM.fork { Dumped.new }.value.data
p RubyVM.fork { DumpedText.new("a") }.value.text
p RubyVM.fork { RubyVM.fork { [Dumped.new, DumpedText.new("b")] }.value.then { |a, b| [a.data, b.text] } }.value
# Deep-frozen graphs of many objects travel by reference, but not these.
p RubyVM.fork { Array.new(500) { DumpedText.new("c").freeze }.freeze }.value.map(&:text).uniq
