module Coveralls; module SimpleCov; class Formatter; end; end; def self.wear!(*) = nil; end
