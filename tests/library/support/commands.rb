# Runs RubyGems' and Bundler's commands in a directory of their own, and shows what they say without what differs from machine to machine.
require "open3"
require "tmpdir"
require_relative "gem_server"

class Commands
  GEM = ["-e", 'require "rubygems"; require "rubygems/gem_runner"; begin; Gem::GemRunner.new.run(ARGV.dup); rescue Gem::SystemExitException => e; exit e.exit_code; end', "--"].freeze
  BUNDLE = [Gem.bin_path("bundler", "bundle")].freeze

  attr_reader :dir, :app, :server

  def self.open(context = nil)
    Dir.mktmpdir do |dir|
      commands = new(File.realpath(dir), context)
      yield commands
    ensure
      commands&.server&.stop
    end
  end

  def initialize(dir, context)
    @dir, @app = dir, "#{dir}/app"
    FileUtils.mkdir_p([@app, "#{dir}/home", "#{dir}/made", "#{dir}/bin"])
    File.symlink(RbConfig.ruby, "#{dir}/bin/zakuro")
    @server = GemServer.new("#{dir}/made", context)
    @environment = {
      "HOME" => "#{dir}/home", "GEM_HOME" => "#{dir}/gems", "GEM_PATH" => nil, "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil, "BUNDLE_SILENCE_ROOT_WARNING" => "1",
      "NO_COLOR" => "1", "CI" => nil, "PATH" => "#{dir}/bin:#{dir}/gems/bin:#{ENV["PATH"]}", "XDG_CACHE_HOME" => nil, "XDG_DATA_HOME" => nil, "XDG_CONFIG_HOME" => nil
    }
  end

  def write(path, text) = File.write(File.join(@app, path), text)
  def read(path) = clean(File.read(File.join(@app, path)))
  def gem(*arguments, **options) = run("gem #{arguments.join(" ")}", [RbConfig.ruby, *GEM, *arguments], **options)
  def bundle(*arguments, **options) = run("bundle #{arguments.join(" ")}", [RbConfig.ruby, *BUNDLE, *arguments], **options)
  def ruby(*arguments, **options) = run("ruby #{arguments.join(" ")}", [RbConfig.ruby, *arguments], **options)

  # Shows the command, the lines of its output that fit, and its status.
  def run(shown, command, only: //, env: {})
    out, status = Open3.capture2e(@environment.merge(env), *command, chdir: @app)
    puts "$ #{clean(shown)}", clean(out).lines.grep(only).map { |l| "  #{l}" }, "  => #{status.exitstatus}"
  end

  def clean(text) = text.gsub(@server.url, "URL").gsub(@dir, "DIR").gsub(/sha256=\h+/, "sha256=...").gsub(/\(in .*?s\)|in \d+\.\d+s?/, "in N")
end
