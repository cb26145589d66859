# VMs of a pool are killed from outside at random moments, while jobs of no time, of some microseconds and of a millisecond go through map, stream and submit: each job has its value, or
# the error that its VM was killed, once, at its place.
#
#   zakuro tests/chaos/pool_kills.rb [SECONDS [SEED]]      (status 1 when something did not hold)
seconds = Float(ARGV[0] || 10)
random = Random.new(Integer(ARGV[1] || 1))
clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
pool = RubyVM::Pool.new(size: 3, name: "k")
killer = Thread.new do
  loop do
    sleep random.rand * 0.003
    vm = RubyVM.list.select { |v| v.name.start_with?("k-") }.sample(random: random)
    # With grace time it says what it has done, without it does not.
    vm&.kill(**(random.rand(2) == 0 ? {} : { grace: 0 }))
  end
end

jobs = wrong = killed = 0
check = lambda do |got, count, value|
  wrong += 1 unless got.size == count
  jobs += count
  got.each_with_index do |result, i|
    if RubyVM::Pool::EndError === result
      killed += 1
    elsif result != value[i]
      wrong += 1
    end
  end
end

stop = clock.call + seconds
while clock.call < stop
  [[2000, 0], [300, 1000], [20, 30_000], [3000, 10]].each do |count, spin|
    work = ->(k) { i = 0; i += 1 while i < spin; k * 2 }
    check.call(pool.map(0...count, errors: :return, &work), count, ->(i) { i * 2 })
    check.call(pool.stream(0...count, errors: :return, &work).to_a, count, ->(i) { i * 2 })
    check.call(Array.new(50) { |k| pool.submit(k) { |n| n } }.map { |future| future.wait.error || future.value }, 50, ->(i) { i })
  end
end
killer.kill.join
pool.close
puts "#{jobs} jobs, #{pool.report.restarts} VMs killed, #{killed} jobs with them, #{wrong} wrong"
exit(wrong == 0 && jobs == pool.report.jobs && killed == pool.report.errors)
