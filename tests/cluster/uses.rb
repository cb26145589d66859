# Needs redis-server.
# A block takes along what it uses of the variables around it, and not what its text merely mentions; what is nested too deeply is an error of its job.
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  app = File.join(dir, "app.rb")
  File.write(app, "")
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
