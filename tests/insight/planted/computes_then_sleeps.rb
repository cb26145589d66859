# One VM computes for a moment; after it everybody sleeps.
require_relative "work"
RubyVM.fork(name: "calc") { work(20) }.join
sleep 1
