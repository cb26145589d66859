# `private` of a class body counts for what the body defines, not for what methods called there define.
class Fields
  def self.one(name) = define_method(name) { 1 }
  def self.many(*names) = names.each { |n| define_method(n) { 2 } }
  def self.reader(name) = attr_reader(name)
  def self.nested = [1].each { [2].each { define_method(:nested_one) {} } }
  private
  one :a
  many :b, :c
  reader :d
  nested
  define_method(:e) {}
  [:f].each { |n| define_method(n) {} }
  attr_reader :g
end
p Fields.public_instance_methods(false).sort, Fields.private_instance_methods(false).sort
