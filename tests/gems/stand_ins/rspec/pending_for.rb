module RSpec; module Core; class ExampleGroup; def self.pending_for(*) = nil; def pending_for(*) = nil; end; end; end if defined?(RSpec::Core::ExampleGroup)
