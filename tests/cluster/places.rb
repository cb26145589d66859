# Needs redis-server and nats-server.
# An error tells where in the program its call stands, whichever thread has met it; and a block that can't travel what it is.
require "tmpdir"
require_relative "support/servers"

def seen(line)
  yield
  puts "nothing"
rescue Exception => e
  place = e.backtrace&.rindex { |one| one.start_with?("#{__FILE__}:#{line}:in '") && !one.include?("'block ") }
  puts "#{e.class}: #{e.message.gsub(/:\d{4,5}\b/, ":PORT").gsub(/pool-\d+/, "NAME")[0, 200]}"
  puts(place ? "  here, in #{e.backtrace[place][/'.*'/]}" : "  at #{e.backtrace.inspect}")
end

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir, password: "secret")
    seen(__LINE__) { RubyVM::Channel.open(server.url("c", "someone:wrong"), timeout: 2) }
    seen(__LINE__) { RubyVM::Pool.new(connect: server.url("p", "someone:wrong"), timeout: 2) }
    url = server.url("c", kind == "redis" ? ":secret" : "someone:secret")
    window = RubyVM::Channel.open(url, window: 4, parts: false, timeout: 2)
    pool = RubyVM::Pool.new(connect: url.sub(/c\z/, "p"), patience: 0.5, timeout: 1)
    seen(__LINE__) { pool.map([1], &eval("proc { |x| x }", binding, "given.rb", 3)) }
    seen(__LINE__) { pool.map([1], &1.method(:+)) }
    server.stop
    seen(__LINE__) { window << 1 }
    seen(__LINE__) { pool.map([1]) { |x| x } }
    # Once more: it is the same error, and another call.
    seen(__LINE__) { pool.map([1]) { |x| x } }
    seen(__LINE__) { pool.submit { 1 }.value }
  ensure
    pool&.shutdown
    server.stop
  end
end
