module Bundler; def self.require(*) = nil; def self.setup(*) = nil; def self.with_unbundled_env = yield; end
