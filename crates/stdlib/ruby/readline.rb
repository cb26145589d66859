# readline: Reline under its older name.
require "reline"

Readline = Reline unless defined?(Readline)
