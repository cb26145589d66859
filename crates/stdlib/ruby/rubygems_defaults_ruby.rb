# What RubyGems should know of this Ruby. Gems that were installed for the Ruby whose standard library runs here are found too, and its
# default gems count as there; a gem with C extensions may be activated, since most that other gems depend on have natives that stand in for them.
class << Gem
  version, api = RbConfig::CONFIG["ruby_version"], File.basename(RbConfig::CONFIG["rubylibdir"])
  ours, theirs = "/#{Gem.ruby_engine}/#{version}", "/ruby/#{api}"
  host = ->(path) { path.end_with?(ours) ? path.delete_suffix(ours) + theirs : path.sub(/(?<=\/)#{Regexp.escape(version)}\z/, api) }

  if api.match?(/\A\d+\.\d+\.\d+\z/)
    default_path = instance_method(:default_path)
    %i[default_path default_specifications_dir].each { |name| remove_method(name) } # as the operating system's file has them: no warning
    define_method(:default_path) do
      paths = default_path.bind_call(self)
      paths | paths.map(&host)
    end

    define_method(:default_specifications_dir) { File.join(RbConfig::CONFIG["rubylibprefix"], "gems", api, "specifications", "default") }
  end
end

[Gem::Specification, Gem::StubSpecification].each do |specification|
  specification.class_eval do
    remove_method(:missing_extensions?) if method_defined?(:missing_extensions?, false)
    def missing_extensions? = false
  end
end
