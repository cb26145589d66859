# It waits nearly always, and what little it does is collecting.
kept = 20_000.times.map { |n| [n, n.to_s] }
25.times { sleep 0.03; GC.start }
