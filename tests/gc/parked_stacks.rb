# What only the stacks of waiting threads and suspended fibers refer to lives over minor and full collections, whether they have run in between or not.
SIZE = ENV["ZAKURO_TEST_SCALE"] == "small" ? 100 : 20_000
def churn = SIZE.times { |i| "x#{i}" * 2 }

go, told = Array.new(40) { Queue.new }, Queue.new
threads = Array.new(40) do |i|
  Thread.new do
    kept = Array.new(5) { |k| "thread #{i} #{k}" }
    told << i
    3.times do |round|
      go[i].pop
      fresh = "round #{round} of #{i}"
      kept << fresh
      told << i
      Thread.pass
    end
    go[i].pop
    kept.join(",")
  end
end
fibers = Array.new(40) do |i|
  Fiber.new do
    a = ["fiber #{i}"]
    3.times do |k|
      b = "step #{k}"
      Fiber.yield
      a << b
    end
    a.join(",")
  end
end
40.times { told.pop }
3.times do
  fibers.each(&:resume)
  4.times { churn }
  go.each { |q| q << 1 }
  40.times { told.pop }
  4.times { churn }
  GC.start if _1 == 1
end
go.each { |q| q << 1 }
p threads.map(&:value).sum(&:size)
p threads[7].value
p fibers.map(&:resume).uniq.size, fibers.size
f = Fiber.new { x = "kept"; Fiber.yield; x * 2 }
f.resume
6.times { churn }
p f.resume

# Handed over to a thread that waits.
queue = Queue.new
waiting = Array.new(10) { |i| Thread.new { [queue.pop, queue.pop].join(" ") } }
churn
20.times { |i| queue << "message #{i}" * 2; churn if i % 5 == 0 }
p waiting.map { |t| t.value.size }.sum
