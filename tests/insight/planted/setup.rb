require_relative "work"
work(30)
TABLE = 2000.times.map { |i| "word #{i}" }
