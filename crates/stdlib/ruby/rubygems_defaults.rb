# What RubyGems should know of this Ruby: where its gems are, and that it takes gems of the platform "ruby" alone.
#
# The library brings its gems along in `gems/`, which belongs to whoever installed it. Gems that are installed later go beside it (`Gem.default_dir`), or
# to the user's directory, which is our own: CRuby's of the same level may hold compiled extensions.
class << Gem
  shipped = File.join(RbConfig::CONFIG["rubylibdir"], "gems").freeze
  version = RbConfig::CONFIG["ruby_version"]
  theirs = $LOAD_PATH.filter_map { |dir| dir[%r{\A/.*/ruby/(\d+\.\d+\.\d+)\z}, 1] }.last

  default_path = instance_method(:default_path)
  %i[default_path default_specifications_dir default_exec_format user_dir].each { |name| remove_method(name) } # as the operating system's file has them: no warning

  define_method(:default_path) do
    paths = default_path.bind_call(self) | [shipped]
    # The gems of the Ruby whose library was asked for.
    theirs ? paths | ["/var/lib/gems/#{theirs}", "/usr/local/lib/ruby/gems/#{theirs}", "/usr/lib/ruby/gems/#{theirs}", "/usr/share/rubygems-integration/all"] : paths
  end

  define_method(:default_specifications_dir) { File.join(shipped, "specifications", "default") }

  # Executables have the names that their gems give them, whatever the interpreter is called.
  define_method(:default_exec_format) { "%s" }

  define_method(:user_dir) do
    home = File.join(Gem.user_home, ".gem")
    home = File.join(Gem.data_home, "gem") unless File.exist?(home)
    File.join(home, "zakuro", version)
  end
end

[Gem::Specification, Gem::StubSpecification].each do |specification|
  specification.class_eval do
    remove_method(:missing_extensions?) if method_defined?(:missing_extensions?, false)
    def missing_extensions? = false
  end
end
