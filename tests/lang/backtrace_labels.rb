# Labels of frames: class bodies, nested blocks, evals, define_method, required files, core methods.
def here = caller_locations(1, 1)[0].then { |l| [l.label, l.base_label] }

p here
1.times { p here; [1].each { p here } }
module Outer
  p here
  class Inner
    p here
    class << self
      p here
    end
    define_method(:defined) { here }
    def self.made = define_method(:made_later) { here }
    def in_eval = 1.times { return eval("[here, [1].map { here }]") }
    def self.single = [1].map { here }
    def original = here
    alias renamed original
    made
  end
end
o = Outer::Inner.new
p o.defined, o.made_later, o.in_eval, Outer::Inner.single, o.renamed

# Calls that only pass on have no level; core methods do, also those written in Ruby.
class Passed
  def initialize = puts(caller(0))
end
send(:then) { -> { Passed.new }.call }
3.times { |i| puts caller(0) if i == 1 }
[1, 2].each_slice(2) { puts caller(0) }

# A file that is required, and where a place is.
require "tmpdir"
Dir.mktmpdir do |dir|
  File.write("#{dir}/required.rb", "p here\n1.times { p here }\n$at = caller_locations(0, 1)[0]")
  load "#{dir}/required.rb"
  p $at.absolute_path == File.realpath("#{dir}/required.rb"), $at.path == "#{dir}/required.rb"
end
p eval("caller_locations(0, 1)[0].absolute_path", nil, "foo.rb")

S = Struct.new(:x, :y) # members and keyword_init? belong to such classes only
class Direct < Struct; end
p S.members, S.keyword_init?, Direct.respond_to?(:members), Struct.respond_to?(:keyword_init?)
p S.new(1, 2).deconstruct_keys(["x", 1, :zz, :x]), S.new(1, 2).deconstruct_keys([0, -1])
D = Data.define(:a)
p D.members, D.new(1).deconstruct_keys(["a"]), (D.new(1).deconstruct_keys([0]) rescue $!)
p Struct.new(:a).new(1)
c = Class.new
c::Foo = Struct.new(:a)
p c::Foo.new(1)

# Hashes
h = Hash.new(7).merge!(a: nil, b: 1)
p h.compact.default, {}.replace(h).default, Hash.new(3).replace({}).default
p({1.0 => :a}.assoc(1))
p Hash.instance_method(:each) == Hash.instance_method(:each_pair), {a: 1}.filter, {a: 1}.each_pair
p ({a: 1}.transform_keys(nil) rescue $!), (Hash[[nil]] rescue $!)
p nil.to_s.equal?(nil.to_s), true.to_s.equal?(true.to_s)
# Needs the standard library.
