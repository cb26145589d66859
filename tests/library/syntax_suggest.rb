# The hint of syntax_suggest about a missing `end`: loaded when the first SyntaxError is shown, and not before.
require "rbconfig"
require "tmpdir"

def run(*args)
  text = IO.popen([RbConfig.ruby, *args, err: %i[child out]], &:read)
  puts text.chomp.chomp, "(status #{$?.exitstatus})"
end

Dir.mktmpdir do |dir|
  Dir.chdir(dir) do
    File.write("no_end.rb", "def foo\n  if true\n    p 1\nend\n")
    run("no_end.rb")
    run("--disable=syntax_suggest", "no_end.rb")
    run("--disable=gems", "no_end.rb")
    run("-e", "p $LOADED_FEATURES.grep(/syntax_suggest/); p defined?(SyntaxSuggest)")
    run("-e", <<~'RUBY')
      begin
        begin
          raise "before"
        rescue
          load "./no_end.rb"
        end
      rescue SyntaxError => e
        text = e.detailed_message(highlight: false).gsub(Dir.pwd, "DIR")
        puts text, text == e.detailed_message(highlight: false).gsub(Dir.pwd, "DIR"), $!.equal?(e), e.message.include?("-->")
      end
      begin
        eval "def bar"
      rescue SyntaxError => e
        puts e.detailed_message(highlight: false, syntax_suggest: false).lines.first
      end
    RUBY
  end
end
