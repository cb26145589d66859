# RubyGems asks each engine for its ways. Gems that a user has installed with the Ruby whose standard library is used are found too.
class << Gem
  own = instance_method(:default_path)
  define_method(:default_path) do
    user = File.join(Gem.data_home, "gem", "ruby", RbConfig::CONFIG["ruby_version"])
    [*own.bind_call(self), user].uniq
  end
end

# There are no C extensions to be built: a gem that can do without its own, or whose own is one of the natives here, is as good as any, and the others
# say what they miss when they require it.
[Gem::BasicSpecification, Gem::StubSpecification, Gem::Specification].each do |kind|
  kind.define_method(:missing_extensions?) { false }
end
