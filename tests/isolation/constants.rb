require_relative "support/pair"
SHARED = :master
pair(<<~'RUBY')
  SHARED = "child #{me}"
  module M; end
  M.const_set(:"ONLY_#{me}", me)
  String.const_set(:ADDED, me)
  both.()
  out << [SHARED, M.constants, String::ADDED, Object.const_defined?(:Pair)]
RUBY
p SHARED, Object.const_defined?(:M), String.const_defined?(:ADDED)
