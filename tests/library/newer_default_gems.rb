# An installed version of a default gem is what `require` gives, from the first, whether or not anything else has loaded RubyGems.
require_relative "support/commands"

Commands.open do |c|
  version = ->(v) { "module URI; VERSION = #{v.inspect}; end; $uri = #{v.inspect}\n" }
  c.server.gem("uri", "99.1", "lib/uri.rb" => version["99.1"], "lib/uri/own.rb" => "$own = true\n")
  c.server.gem("uri", "99.2.pre", "lib/uri.rb" => version["99.2.pre"])
  c.server.gem("uri", "0.1", "lib/uri.rb" => version["0.1"])
  c.server.gem("other", "1.0")
  from = ["--clear-sources", "--source", c.server.url]
  show = "p $uri, defined?(Gem::VERSION), Gem.loaded_specs['uri']&.version.to_s"

  puts "-- none, then others, then an older one"
  c.ruby "-e", "require 'uri'; p $uri, Object.autoload?(:Gem).nil?"
  c.gem "install", "other", *from, only: /installed/
  c.ruby "-e", "require 'uri'; p $uri, Object.autoload?(:Gem).nil?"
  c.gem "install", "uri", "-v", "0.1", *from, only: /installed/
  c.ruby "-e", "require 'uri'; p $uri; p URI.parse('http://a/b').path"
  puts "-- a newer one"
  c.gem "install", "uri", "-v", "99.1", *from, only: /installed/
  c.ruby "-e", "require 'uri'; #{show}"
  c.ruby "-e", "require 'uri/own'; p $own; require 'uri'; #{show}"
  c.ruby "-e", "p require('uri'), require('uri'), require('uri.rb')"
  c.ruby "-e", "require 'open-uri' rescue p $!.class; p $uri" # by a file of the library
  c.ruby "-e", "gem 'uri', '0.1'; require 'uri'; #{show}"
  c.ruby "--disable-gems", "-e", "require 'uri'; p $uri"
  c.ruby "-e", "p RubyVM.new('v', '-e', 'require \"uri\"; RubyVM::ARGV[0] << $uri').then { |vm| ch = RubyVM::Channel.new; vm.start(ch); x = ch.recv; vm.join; x }"
  c.ruby "-e", "autoload :URI, 'uri'; p URI::VERSION"
  c.ruby "-ruri", "-e", "p $uri"
  c.ruby "-e", "def require(name) = (puts :asked if name == 'uri'; super); require 'uri'; p $uri"
  puts "-- pre-releases, as after RubyGems"
  c.gem "install", "uri", "-v", "99.2.pre", *from, only: /installed/
  c.ruby "-e", "require 'uri'; p $uri"
  c.ruby "-e", "Gem; require 'uri'; p $uri"
  puts "-- GEM_PATH, -I and a Gemfile"
  c.ruby "-e", "require 'uri'; p $uri", env: { "GEM_HOME" => "#{c.dir}/empty", "GEM_PATH" => "#{c.dir}/empty:#{c.dir}/gems" }
  c.ruby "-e", "require 'uri'; p $uri", env: { "GEM_HOME" => "#{c.dir}/empty" }
  Dir.mkdir("#{c.app}/lib")
  c.write "lib/uri.rb", "$uri = 'mine'\n"
  c.ruby "-Ilib", "-e", "require 'uri'; p $uri"
  c.write "Gemfile", "source '#{c.server.url}'\ngem 'uri', '99.1'\n"
  c.bundle "install", only: /Bundle complete/
  c.ruby "-e", "require 'bundler/setup'; require 'uri'; #{show}"
  c.ruby "-e", "require 'uri'; begin; require 'bundler/setup'; rescue LoadError; puts $!.message; end"
end
