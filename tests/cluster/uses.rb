# Needs redis-server.
# A block takes along what it uses of the variables around it, and not what its text merely mentions; what is nested too deeply is an error of its job.
require "tmpdir"
require_relative "support/servers"

ODD_CLASSES = <<~'RUBY'
  class Backtrace < StandardError; def backtrace = raise("no backtrace"); end
  class Named < StandardError; def self.name = raise("no name"); end
  class Classed < StandardError; def class = raise("no class"); end
  class Caused < StandardError; def cause = raise("no cause"); end
  class All < StandardError; def message = raise("no message"); def class = raise("no class"); def backtrace = raise("no backtrace"); def cause = raise("no cause"); end
  ODD = [Backtrace, Named, Classed, Caused, All]
RUBY
eval(ODD_CLASSES)

Dir.mktmpdir do |dir|
  app = File.join(dir, "app.rb")
  File.write(app, ODD_CLASSES + "def later = 7\n")
  server = Servers.start("redis", dir)
  worker = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "2", app, out: File::NULL, err: File::NULL)
  RubyVM::Pool.open(connect: server.url("pool")) do |pool|
    th = Thread.new {}
    n = 40
    p pool.map([1]) { |x| "th #{x}" }
    p pool.map([1]) { |th| th + 1 }
    p pool.map([1]) { |x| { th: x } } # th is in a comment, too
    p pool.map([1]) { |x| [2].map { |th| th + x + n } }
    p pool.map([1]) { |x| Object.respond_to?(:th) }
    adds = ->(x) { x + n }
    p pool.map([2]) { |x| adds.(x) }
    p pool.map([3]) { |x| eval("n") + x } rescue puts $!.message[/the variable .*/]
    begin
      pool.map([1]) { |x| th.alive? }
    rescue TypeError => e
      puts e.message[/the variable .*/]
    end
    # What it only mentions is a variable there, too; what is a method of that name before there is a variable stays one.
    p pool.map([1]) { |x| n; th; x }
    p pool.map([1]) { |x| [defined?(n), defined?(th), defined?(adds), defined?(nobody)] }
    p pool.map([1]) { |x| [[x, defined?(n)]].map { |_, found| n; found } }
    p pool.map([1]) { |x| later + x }
    later = 3
    p pool.map([1]) { |x| later + x }
    # Texts of the core library are none that travel.
    begin
      pool.map([1], &(:succ.to_proc >> :to_s.to_proc))
    rescue TypeError => e
      puts e.message[/a Proc without.*?another machine/]
    end
    # Exceptions whose methods fail.
    p pool.map([1, 2, 3, 4, 5], errors: :return) { |x| raise ODD.fetch(x - 1), "text" }.map { |e| [e.class, e.message, Kernel.instance_method(:class).bind_call(e.cause)] }
    p pool.report.restarts
    deep = []
    100_000.times { deep = [deep] }
    pool.map([deep, [1]], errors: :return) { |x| x.size }.each { |r| puts r.is_a?(Exception) ? "#{r.class}: #{r.message}".gsub(/pool-\d+/, "NAME") : r }
    pool.map([1, 2], errors: :return) { |x| d = []; (x == 1 ? 100_000 : 1).times { d = [d] }; d }.each do |r|
      puts r.is_a?(Exception) ? "#{r.class}: #{r.message}".sub(/\S+:\d+$/, "PLACE").gsub(/in \S+:\d+/, "in PLACE") : r.inspect
    end
  end
ensure
  Process.kill(:TERM, worker)
  Process.wait(worker)
  server.stop
end
