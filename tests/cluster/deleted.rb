# Needs redis-server and nats-server.
# Who has a channel that another one deletes gets one error, and does not make it again; who opens it then has a new one (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    begin
      open = ->(name, *rest, **options) { RubyVM::Channel.open(server.url(name), *rest, **options) }

      puts "-- who waits"
      5.times do |i|
        ways = [->(c) { c.recv }, ->(c) { c.each { nil } }, ->(c) { RubyVM.select(c) }]
        waiting = ways.map { |way| Thread.new(open["w#{i}"]) { |c| tried { way.call(c) } } }
        # Who has not begun to wait by then hears of it as well.
        sleep 0.2
        open["w#{i}"].delete
        p waiting.map(&:value).uniq
        fresh = open["w#{i}"]
        fresh << i
        p fresh.recv(timeout: 20)
      end

      puts "-- who sends"
      one, window, idle, full = open["s"], open["s", window: 10], open["s"], open["f", 1]
      one << 1
      window << 2
      full << 3
      sender = Thread.new { tried { full << 4 } }
      sleep 0.2
      %w[s f].each { |name| open[name].delete }
      p sender.value
      # How many were under way by then is not known.
      p tried { one << 4 }, tried { 20.times { window << 5 }; window.flush }.then { |c, text| [c, text.sub(/:.*under way.*/, "")] }, tried { idle.try_send(6) }
      p [one, window, idle, full].map { |c| [c.closed?, c.size, tried { c.close }.equal?(c), tried { c.disconnect }.equal?(c)] }.uniq
      fresh = open["s"]
      p fresh.closed?, fresh.size
      fresh << 7
      p fresh.recv(timeout: 20)

      puts "-- who has a message"
      c = open["h", ack: :manual]
      c << 1 << 2
      p c.recv
      open["h"].delete
      p tried { c.reject }, tried { c.recv(timeout: 20) && c.recv(timeout: 20) }, tried { c << 1 }
      c = open["h"]
      c << 3
      p c.recv(timeout: 20)

      puts "-- its own handle"
      c = open["o"]
      receiver = Thread.new { tried { c.recv } }
      sleep 0.2
      p c.delete.equal?(c), receiver.value, tried { c << 1 }
      p c.closed?
      other = open["p"]
      p other.disconnect.closed?, tried { other.recv }

      puts "-- who has received all"
      c = open["q"]
      c << 1 << 2
      p c.recv, c.recv
      # Until the server has said that there is no more.
      sleep 1.6
      open["q"].delete
      p tried { c.recv(timeout: 20) }

      puts "-- while a thread of the same handle is about to make it"
      c = open["m"]
      queue = c.__queue
      at_it, removed = Thread::Queue.new, Thread::Queue.new
      queue.singleton_class.prepend(Module.new do
        define_method(:make) do |&make|
          at_it << true
          removed.pop
          super(&make)
        end
      end)
      maker = Thread.new { tried { queue.open(20) } }
      at_it.pop
      queue.delete
      removed << true
      p maker.value
      there = open["n"].__queue.connection
      p kind == "nats" ? there.api("STREAM.LIST")["streams"].map { |stream| stream["config"]["name"] }.include?("zakuro_m") : there.run_command("EXISTS", "m")
    ensure
      server.stop
    end
  end
end
