# Without --gc=stress. Stacks of threads and fibers count for the memory limit: what they take at least, and more when code waits deep in them. Whoever makes threads without end is
# ended, also when each new thread is the one that is told that there is no memory and dies of it.
DEEP = "def deep(n, &b) = n == 0 ? yield : deep(n - 1, &b); "
HOARDS = {
  "threads" => "all = []; loop { all << Thread.new { sleep } }",
  "dying threads" => "Thread.report_on_exception = false; loop { Thread.new { sleep } }",
  "rescue" => "begin; loop { Thread.new { sleep } }; rescue NoMemoryError; retry; end",
  "deep threads" => "#{DEEP} loop { Thread.new { deep(2000) { sleep } }; Thread.pass }",
  "fibers" => "all = []; loop { all << Fiber.new { Fiber.yield }.tap(&:resume) }",
  "deep fibers" => "#{DEEP} all = []; loop { all << Fiber.new { deep(200) { Fiber.yield } }.tap(&:resume) }",
}
HOARDS.each do |name, code|
  vm = RubyVM.new(name, "-e", code, memory_limit: 16 << 20, grace: 0)
  vm.start
  begin
    puts "#{name}: #{vm.join(60) ? "over" : "goes on"}"
  rescue RubyVM::Error => e
    # The error may also come while the last one is being rescued: then it ends the program.
    puts "#{name}: #{e.message.match?(/memory limit|NoMemoryError/) ? "memory limit" : e.message}"
  end
end

# What has ended counts no more.
vm = RubyVM.new("churn", "-e", "5000.times { Thread.new { Fiber.new { 1 }.resume }.value }; exit 7", memory_limit: 16 << 20)
vm.start.join
p vm.status

# Some are let go, and there is room again.
room = <<~RUBY
  all = []
  begin
    loop { all << Thread.new { sleep } }
  rescue NoMemoryError
    all.each(&:kill).each(&:join)
    all = nil
  end
  200.times.map { Thread.new { sleep 0.001; 1 } }.sum(&:value).then { |n| exit(n == 200 ? 3 : 4) }
RUBY
vm = RubyVM.new("room", "-e", room, memory_limit: 16 << 20)
vm.start.join
p vm.status
