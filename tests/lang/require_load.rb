$LOAD_PATH.unshift File.join(__dir__, "fixtures")
p require("req_a"), require("req_a"), $req_a_count
p require_relative("fixtures/req_a"), $req_a_count
p load("req_b.rb"), load("req_b.rb"), $req_b_count
p ReqA::VALUE, ReqA.file, ReqA.dir
begin
  require "does/not/exist"
rescue LoadError => e
  p e.message, e.path
end
begin
  load "missing.rb"
rescue LoadError => e
  p e.message
end
p $LOADED_FEATURES.count { |f| f.end_with?("req_a.rb") }
p require(File.join(__dir__, "fixtures/req_c")), defined?(local_in_c)
2.times do
  require_relative "fixtures/req_raises"
rescue RuntimeError => e
  p e.message
end
begin
  require_relative "fixtures/req_syntax"
rescue SyntaxError => e
  p e.class
end
load File.join(__dir__, "fixtures/req_wrapped.rb"), true
p defined?(WrappedConst)
require "req_cycle_a"
p $cycle
# Needs the standard library.
