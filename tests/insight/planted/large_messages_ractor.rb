# Each message of a Ractor carries far more than the other one looks at.
page = 20_000.times.map { |i| { id: i, text: "word #{i}", at: [i, i + 1] } }
ractors = 2.times.map { |i| Ractor.new(name: "worker#{i}") { while (page = Ractor.receive); page.first[:text].size; end } }
40.times { |i| ractors[i % 2].send(page) }
ractors.each { |r| r.send(nil) }
ractors.each(&:value)
