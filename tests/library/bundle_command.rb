# Without --gc=stress. bundle install, exec, lock, add, update, config; a Gemfile with groups, a path and a git repository; bundler/setup and bundler/inline.
require_relative "support/commands"

Commands.open do |c|
  server = c.server
  %w[1.0 1.1 2.0].each { |v| server.gem("leaf", v) }
  server.gem("tree", "0.5") { |s| s.add_dependency "leaf", "~> 1.0" }
  server.gem("tool", "2.0", "exe/tool" => "#!/usr/bin/env ruby\nrequire 'tool'; puts \"tool \#{Tool::VERSION} \#{ARGV}\"\n") { |s| s.bindir, s.executables = "exe", ["tool"] }
  server.gem("native", "1.0", "ext/native/extconf.rb" => "require 'mkmf'; create_makefile 'bcrypt_ext'\n") { |s| s.extensions = ["ext/native/extconf.rb"] }
  server.gem("clash", "1.0") { |s| s.add_dependency "leaf", "< 1" }
  server.gem("plat", "1.0")
  server.gem("plat", "1.0") { |s| s.platform = "x86_64-linux" }
  %w[near far].each do |name|
    FileUtils.mkdir_p("#{c.app}/#{name}/lib")
    c.write "#{name}/#{name}.gemspec", "Gem::Specification.new { |s| s.name, s.version, s.summary, s.authors, s.files = #{name.inspect}, '0.1', 'x', ['A'], ['lib/#{name}.rb'] }\n"
    c.write "#{name}/lib/#{name}.rb", "#{name.capitalize} = true\n"
  end
  git = system("git", "--version", out: File::NULL, err: File::NULL)
  if git
    settings = %w[-c user.name=A -c user.email=a@example.com -c init.defaultBranch=main]
    system("cd #{c.app}/far && git #{settings.join(" ")} init -q && git add . && git #{settings.join(" ")} commit -qm one", exception: true)
  end
  c.write "Gemfile", <<~RUBY
    source "#{server.url}"
    gem "tree"
    gem "plat"
    gem "native"
    gem "near", path: "near"
    #{"gem \"far\", git: \"#{c.app}/far\"" if git}
    group(:test) { gem "tool" }
    group(:absent, optional: true) { gem "clash" if false }
  RUBY
  c.write "use.rb", "require 'bundler/setup'; Bundler.require(:default); p Tree::VERSION, Gem.loaded_specs['leaf'].version, Plat::VERSION, Native::VERSION, Near, defined?(Tool)\n"

  c.bundle "install", only: /rror/
  puts c.read("Gemfile.lock").gsub(/^GIT\n.*?\n\n/m, "").gsub(/^  far!?\n|^  far \(0\.1\)\n/, "")
  c.ruby "use.rb"
  c.bundle "exec", "tool", "a"
  c.bundle "exec", "zakuro", "-rnear", "-e", "p Near"
  c.bundle "exec", "env", "RUBYOPT=-w", "zakuro", "-e", "require 'near'; p Near"
  c.bundle "exec", "zakuro", "--disable=rubyopt", "-e", "p defined?(Bundler)"
  c.bundle "exec", "zakuro", "-e", "p RubyVM.new('v', '-e', 'p defined?(Bundler)').start.join.class"
  c.bundle "add", "leaf", "--version", "< 2", only: /rror/
  puts c.read("Gemfile").lines.grep(/leaf/)
  c.bundle "update", "--all", only: /updated|rror/
  c.bundle "lock", "--print", only: /^    (leaf|tree) \(/
  c.bundle "config", "set", "--local", "without", "test", only: /rror/
  c.bundle "config", "get", "without", only: /local|test/
  c.bundle "check"
  c.write "inline.rb", "require 'bundler/inline'\ngemfile(true, quiet: true) { source '#{server.url}'; gem 'leaf', '1.0' }\nrequire 'leaf'; p Leaf::VERSION\n"
  c.ruby "inline.rb"

  puts "-- what can't be"
  FileUtils.mkdir_p("#{c.app}/other")
  other = { "BUNDLE_GEMFILE" => "#{c.app}/other/Gemfile" }
  c.write "other/Gemfile", "source '#{server.url}'\ngem 'clash'\ngem 'leaf', '> 1'\n"
  c.bundle "install", env: other
  c.write "other/Gemfile", "source '#{server.url}'\ngem 'nowhere'\n"
  c.bundle "install", env: other, only: /nowhere/
  c.write "other/Gemfile", "source 'http://127.0.0.1:9'\ngem 'leaf'\n"
  c.bundle "install", env: other.merge("BUNDLE_RETRY" => "0"), only: /Could not/
  puts Dir.children("#{c.app}/other").inspect
end
