require "minitest"
class Minitest::Test; def self.prove_it! = nil; end
