# Each job of a pool gets far more than it looks at.
page = 20_000.times.map { |i| { id: i, text: "word #{i}", at: [i, i + 1] } }
RubyVM::Pool.open(size: 2) { |pool| pool.map([page] * 40) { |page| page.first[:text].size } }
