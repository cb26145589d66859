# RubyGems is there when it is named.
p defined?(Gem), Gem::Version.new("1.10") > Gem::Version.new("1.9"), Gem::Requirement.new("~> 1.2").satisfied_by?(Gem::Version.new("1.9"))
begin
  require "no_such_feature_of_any_gem"
rescue LoadError => e
  puts e.message, e.path
end
begin
  gem "no_such_gem"
rescue Gem::LoadError => e
  p e.name
end
# Needs the standard library.
