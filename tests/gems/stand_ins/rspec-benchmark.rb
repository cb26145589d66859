module RSpec; module Benchmark; module Matchers; end; end; end
