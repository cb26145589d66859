# A program that takes `gem` away (as bundled applications do) keeps its own, whenever RubyGems comes.
module Kernel
  private def gem(name, *) = "#{name} is there"
end
p gem("anything")
begin
  require "no_such_feature_of_any_gem"
rescue LoadError => e
  p e.path
end
p gem("sqlite3", "~> 2"), Gem::Version.new("1.10") > Gem::Version.new("1.9")
