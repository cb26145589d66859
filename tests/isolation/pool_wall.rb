# `wall_limit:` of a pool's VMs: one that waits for a job when its time is over ends without a word and is replaced; one that is at a job tells of it.
program = <<~RUBY
  pool = RubyVM::Pool.new(size: 2, wall_limit: 0.4)
  replaced = 0
  300.times do
    replaced = pool.report.restarts
    break if replaced >= 4
    sleep(0.05)
  end
  p replaced >= 4, pool.report.errors
  # Each VM is as good as any.
  sums = 20.times.map { pool.map(1..20) { |n| n }.sum rescue $!.class }
  p (sums - [210, RubyVM::Pool::EndError]).empty?, sums.include?(210)
  begin
    pool.map([1]) { sleep }
  rescue RubyVM::Pool::EndError => e
    p e.message, e.kind, e.cause.class
  end
  pool.close
RUBY
r, w = IO.pipe
pid = spawn(RbConfig.ruby, "-e", program, err: w)
w.close
told = r.read
Process.wait(pid)
p told
