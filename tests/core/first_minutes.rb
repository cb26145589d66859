# What gems do while they are loaded.
module Tagged; end
nil.extend(Tagged)
true.extend(Tagged)
p nil.is_a?(Tagged), true.is_a?(Tagged), false.is_a?(Tagged)
begin
  "".freeze.extend(Tagged)
rescue FrozenError => e
  p e.class
end

# A checker of a program's own for an exception class.
class Odd < StandardError; end
class OddChecker
  def initialize(error) = @error = error
  def corrections = ["even"]
end
DidYouMean.correct_error(Odd, OddChecker)
begin
  raise Odd, "odd"
rescue Odd => e
  puts e.detailed_message(highlight: false)
end
told = RubyVM::Channel.new
RubyVM.new("other", "-e", "RubyVM::ARGV[0] << DidYouMean.spell_checkers.key?('Odd')").start(told)
p told.recv

# `def` in text that is evaluated in a method is public.
def self.inside = binding
eval("def from_method; end", inside)
eval("def from_top; end", TOPLEVEL_BINDING)
p Object.public_method_defined?(:from_method), Object.private_method_defined?(:from_top)

# Only the variables that a block uses must be shareable.
def reader(owner, value)
  [1].each { value }
  Ractor.shareable_proc { owner }
end
p reader(Object, {}).call
def writer(value) = Ractor.shareable_proc { value }
begin
  writer({})
rescue Ractor::IsolationError => e
  puts e.message
end
def nested(owner, value)
  [1].each { value << 1 }
  Ractor.shareable_proc { [1].map { owner } }
end
p nested(:x, []).call, Ractor.shareable?(nested(:x, []))

# Methods of the library that are written in Ruby have a place.
p MonitorMixin.instance_method(:synchronize).source_location.map(&:class), Kernel.instance_method(:puts).source_location
p RUBY_ENGINE, RUBY_ENGINE_VERSION == RUBY_VERSION, RUBY_DESCRIPTION.include?(ZAKURO_VERSION), Encoding::UNICODE_VERSION
