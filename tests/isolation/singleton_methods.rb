require_relative "support/pair"
pair(<<~'RUBY')
  String.define_singleton_method(:who) { me }
  def nil.number = 7 if me == 1
  class << Math
    attr_accessor :state
  end
  Math.state = me
  both.()
  out << [String.who, nil.respond_to?(:number), Math.state, Math.singleton_methods(false).include?(:state)]
RUBY
p String.respond_to?(:who), nil.respond_to?(:number), Math.respond_to?(:state)
