# What the others see of a main thread that has ended and waits for them.
q = Thread::Queue.new
Thread.new(Thread.current) do |main|
  q.push nil
  main.run
  Thread.pass until main.stop?
ensure
  puts [main.alive?, main.status, main.stop?, Thread.current.status].inspect
  $stdout.flush
end
q.pop
