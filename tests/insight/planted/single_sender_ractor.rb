# Ractors that could do more are fed by one that does much for each job.
require_relative "work"
pipe = Ractor.new do
  takers = Ractor.receive
  300.times { |i| work(6); takers[i % 4].send(i) }
  takers.each { |r| r.send(nil) }
end
takers = 4.times.map { |i| Ractor.new(name: "taker#{i}") { while Ractor.receive; work(0.3); end } }
pipe.send(takers)
takers.each(&:value)
