# A VM that passes for CRuby, with what is forked from it; others don't.
p RUBY_ENGINE
require "zakuro/as_cruby"
p RUBY_ENGINE, RUBY_ENGINE_VERSION, RUBY_ENGINE.frozen?
p RubyVM.fork { RUBY_ENGINE }.value
out = RubyVM::Channel.new
RubyVM.new("other", "-e", "RubyVM::ARGV[0] << RUBY_ENGINE").start(out).join
p out.recv
p require("zakuro/as_cruby")
