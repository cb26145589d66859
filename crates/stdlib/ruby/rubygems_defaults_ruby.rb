# What RubyGems should know of this Ruby: where its gems are, and that it takes gems of the platform "ruby" alone.
#
# The library brings its gems along in `gems/`, which belongs to whoever installed it. Gems that are installed later go beside it (`Gem.default_dir`), or
# to the user's directory, which is our own: CRuby's of the same level may hold compiled extensions.
module Gem
  # What stands in libraries that have become gems asks it for levels of warnings.
  autoload :BUNDLED_GEMS, "bundled_gems"
end

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

# Which default gem a file is of stands in an index, made with the library (xtask/src/library/index.rs): a line `=NAME.gemspec SIZE` for each, then one for each name that `require` may give. A specification is
# evaluated when one of its files is asked for. Where the directory holds others than the index knows, all are evaluated, as RubyGems does.
class Gem::Specification
  class << self
    evaluate_all = instance_method(:load_defaults)
    remove_method(:load_defaults)

    define_method(:load_defaults) { Gem.__use_index_of_default_specs || evaluate_all.bind_call(self) }
  end
end

class << Gem
  find, clear = instance_method(:find_default_spec), instance_method(:clear_default_specs)
  %i[find_default_spec find_unresolved_default_spec clear_default_specs].each { |name| remove_method(name) }

  define_method(:find_default_spec) { |path| find.bind_call(self, path) || __indexed_default_spec(path) }

  def find_unresolved_default_spec(path)
    spec = find_default_spec(path)
    spec if spec && loaded_specs[spec.name] != spec
  end

  define_method(:clear_default_specs) do
    @default_specs_index = @default_specs_files = nil
    clear.bind_call(self)
  end

  def __use_index_of_default_specs
    dir = default_specifications_dir
    index = File.read(File.join(dir, ".index"), encoding: Encoding::UTF_8)
    return unless index.valid_encoding?
    files = Dir.children(dir).select { |name| name.end_with?(".gemspec") }
    return unless files.size == index.scan("\n=").size && files.all? { |name| index.include?("\n=#{name} #{File.size(File.join(dir, name))}\n") }
    @default_specs_index, @default_specs_files = index, nil
    # What was loaded before RubyGems was.
    paths = default_gem_load_paths.map { |path| "#{path}/" }
    $LOADED_FEATURES.each do |feature|
      inside = paths.find { |path| feature.start_with?(path) } or next
      name = feature.delete_prefix(inside)
      # RubyGems itself is no gem.
      __indexed_default_spec(name)&.activate unless name.start_with?("rubygems")
    end
    true
  rescue SystemCallError
    nil
  end

  # Specifications by the names of their files.
  def __files_of_default_specs
    name = nil
    @default_specs_index.each_line(chomp: true).with_object({}) do |line, files|
      line.start_with?("=") ? name = line[1...line.index(" ")] : files[line] = name
    end
  end

  def __indexed_default_spec(path)
    return unless @default_specs_index
    @default_specs_files ||= __files_of_default_specs
    name = @default_specs_files[path] or return
    Gem::Specification.load(File.join(default_specifications_dir, name))
  end
end

[Gem::Specification, Gem::StubSpecification].each do |specification|
  specification.class_eval do
    remove_method(:missing_extensions?) if method_defined?(:missing_extensions?, false)
    def missing_extensions? = false
  end
end

# The library brings its gems without the packages that they came in: `gem check` does not miss these. (Its file is loaded by the command.)
class Gem::Validator
  prepend(Module.new do
    def alien(...)
      packages = File.join(RbConfig::CONFIG["rubylibdir"], "gems", "cache", "")
      super.each_value { |problems| problems.reject! { |e| e.path.start_with?(packages) && e.problem.start_with?("missing gem file") } }.reject { |_, problems| problems.empty? }
    end
  end)
end

# No precompiled gem fits: they hold extensions for CRuby.
Gem.platforms = [Gem::Platform::RUBY]

# What can't be unpacked whole (a full disk, a damaged package) leaves nothing.
Gem.pre_install do |installer|
  installer.define_singleton_method(:extract_files) do
    super()
  rescue Exception
    FileUtils.rm_rf(gem_dir)
    raise
  end
end

# A gem with a C extension is installed without it: much works all the same, by a native of ours under the extension's name or by the gem's own fallback in Ruby.
Gem.pre_install do |installer|
  spec = installer.spec
  next if spec.extensions.empty?
  installer.define_singleton_method(:build_extensions) do
    missing = spec.extensions.reject { |file| Gem.__natives?(spec, file) }
    unless missing.empty?
      alert_warning "#{spec.full_name} is installed without its C extension (#{missing.join(", ")}): Zakuro loads none. " \
                    "`require` raises LoadError where the gem has nothing in its place."
    end
    # Bundler, and RubyGems of others, take a gem without this file for one whose extensions failed, and ignore it.
    FileUtils.mkdir_p(spec.extension_dir)
    FileUtils.touch(spec.gem_build_complete_path)
  end
end

class << Gem
  # The features that an extension would make, as its extconf.rb says.
  def __targets(spec, extension)
    text = File.read(File.join(spec.full_gem_path, extension)) rescue ""
    named = text.scan(/create_(?:rust_)?makefile[\s(]+["']([^"']+)["']/).flatten
    named.empty? ? [File.basename(File.dirname(extension))] : named
  end

  # Whether natives of ours stand in for all that an extension would make.
  def __natives?(spec, extension)
    __targets(spec, extension).all? { |target| $LOAD_PATH.resolve_feature_path(target)&.last == "#{target}.so" }
  end

  # What a LoadError adds when it is a C extension that is missing.
  def __missing_extension(feature)
    name = feature.delete_suffix(".so")
    loaded_specs.each_value do |spec|
      file = spec.extensions.find { |e| __targets(spec, e).any? { |t| t == name || name.end_with?("/#{t}") || t.end_with?("/#{name}") } }
      next unless file
      return " (a C extension of the gem #{spec.full_name}, #{file}; Zakuro loads none. Look for a version or a gem in plain Ruby; " \
             "docs/stdlib.md in Zakuro's repository lists the extensions that it stands in for)"
    end
    nil
  end
end
