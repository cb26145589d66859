# A pipeline whose second stage takes longest.
require_relative "work"
a, b, c = %w[raw parsed counted].map { |name| RubyVM::Channel.new(4, name:) }
stages = [[a, 0.4], [b, 8], [c, 0.4]].each_with_index.map do |(from, size), i|
  into = [b, c, nil][i]
  RubyVM.fork(from, into, size, name: "stage#{i + 1}") do |from, into, size|
    from.each { |n| work(size); into&.<< n }
    into&.close
  end
end
80.times { |n| a << n }
a.close
stages.each(&:join)
