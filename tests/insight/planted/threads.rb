# Threads of one VM that compute.
require_relative "work"
4.times.map { Thread.new { work(80) } }.each(&:join)
