# encoding: iso-8859-1
# Names that are made of others are in their encoding.
class Dé
  attr_accessor :é
  module Mé; end
end
d = Dé.new
d.é = 1
p d.é, d.respond_to?(:é), Dé.instance_methods(false).map(&:encoding).uniq
p d.instance_variables.map { |n| [n.encoding, n.to_s.b] }
p Dé::Mé.name.encoding, Dé::Mé.name.b
Sé = Struct.new(:é)
s = Sé.new(2)
s.é += 1
p s.é, Sé.instance_methods(false).map(&:encoding).uniq
p :é.succ.encoding
p Sé.new("é": 5).to_a rescue p $!.class
p Marshal.load(Marshal.dump([Dé.new, Dé, Sé.new(1)])).map { |v| (v.is_a?(Module) ? v : v.class).name.b }
p Marshal.load(Marshal.dump([Sé.new([3]), Dé::Mé, :é]))[0].to_a
