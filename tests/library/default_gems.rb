# Which default gem a file is of: from the index that was made with the library, or from the specifications. Both say the same, of every file.
Gem
evaluated = -> { Gem::Specification.instance_variable_get(:@load_cache).keys.count { it.include?("/default/") } }
puts "evaluated at the start: #{evaluated.call}"

# By evaluating all, as RubyGems does.
files = {}
Dir[File.join(Gem.default_specifications_dir, "*.gemspec")].sort.each do |path|
  spec = Gem::Specification.load(path)
  prefixes = spec.require_paths.map { "#{it}/" }
  inside = spec.files.filter_map { |file| prefixes.find { file.start_with?(it) }&.then { file.delete_prefix(it) } }
  (inside.empty? ? spec.files : inside).each do |file|
    files[file] = files[file.sub(Gem.suffix_regexp, "")] = spec.full_name
  end
end
wrong = files.reject { |file, gem| Gem.find_default_spec(file)&.full_name == gem }
puts "gems #{files.values.uniq.size > 30}, files #{files.size > 500}, wrong #{wrong.first(3)}"
p ["nothing", "=json", "json\n", "\n=", "", "json.r", "xjson", "\xff", "é", "../json"].map { Gem.find_default_spec(it) }

# A file of a default gem activates it, and its dependencies.
p Gem.find_unresolved_default_spec("net/http")&.name
require "net/http"
p Gem.loaded_specs.key?("net-http"), Gem.find_unresolved_default_spec("net/http")
Gem.clear_default_specs
p Gem.find_default_spec("uri")

# Another directory than the index knows: everything is evaluated.
require "tmpdir"
Dir.mktmpdir do |dir|
  run = ->(program) { IO.popen([{"ZAKURO_LIBRARY" => nil}, RbConfig.ruby, "-e", program], &:read) }
  copy = File.join(dir, "default")
  Dir.mkdir(copy)
  Dir.children(Gem.default_specifications_dir).each { |name| File.symlink(File.join(Gem.default_specifications_dir, name), File.join(copy, name)) }
  File.write(File.join(copy, "late-1.gemspec"), <<~RUBY)
    Gem::Specification.new { |s| s.name = "late"; s.version = "1"; s.summary = s.authors = "x"; s.files = ["lib/late.rb"] }
  RUBY
  puts run.call(<<~RUBY)
    Gem
    Gem.clear_default_specs
    Gem.define_singleton_method(:default_specifications_dir) { #{copy.inspect} }
    Gem::Specification.load_defaults
    p Gem.find_default_spec("late")&.full_name, Gem.find_default_spec("uri")&.name, Gem.instance_variable_get(:@default_specs_index)
    File.delete(#{File.join(copy, "late-1.gemspec").inspect})
    Gem.clear_default_specs
    Gem::Specification.load_defaults
    p Gem.find_default_spec("late"), Gem.find_default_spec("uri")&.name, Gem.instance_variable_get(:@default_specs_index).class
  RUBY
end
