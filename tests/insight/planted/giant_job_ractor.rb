# Ractors get equal numbers of jobs, of which the last one takes longer than all others together.
require_relative "work"
ractors = 4.times.map { |i| Ractor.new(name: "worker#{i}") { while (size = Ractor.receive); work(size); end } }
200.times { |i| ractors[i % 4].send(4) }
ractors[0].send(3000)
ractors.each { |r| r.send(nil) }
ractors.each(&:value)
