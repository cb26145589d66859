# Small messages: round trips, floods, many to one, one to many, select. Under zakuro between VMs over channels; under the reference
# between threads over Queue, between processes over a pipe with Marshal, and between Ractors.
# messages.rb [SCALE] prints lines `name value unit`.

SCALE = (ARGV[0] || 1.0).to_f
ROUNDS = (30_000 * SCALE).to_i
FLOOD = (1_000_000 * SCALE).to_i
MANY = 8

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
def per(name, count, seconds) = puts("#{name} #{format("%.3f", seconds * 1e6 / count)} us")
def rate(name, count, seconds) = puts("#{name} #{format("%.3f", count / seconds / 1e6)} M/s")

SMALL = { "int" => 1, "string" => "0123456789", "pair" => [1, "two"] }

if defined?(RubyVM::Channel)
  Channel = RubyVM::Channel

  def side(*args, &) = RubyVM.fork(*args, &)

  # Both sides wait for each other: the scheduler keeps them on one worker.
  SMALL.each do |name, value|
    there, back = Channel.new, Channel.new
    vm = side(there, back, ROUNDS) { |from, to, n| i = 0; while i <= n; to << from.recv; i += 1; end }
    there << value
    back.recv
    start = now
    i = 0
    while i < ROUNDS
      there << value
      back.recv
      i += 1
    end
    per "vm_round_trip_#{name}", ROUNDS, now - start
    vm.join
  end

  # Both compute while a message is on its way, so each has a core: what is left is what a wake-up costs that must cross over.
  there, back = Channel.new, Channel.new
  spin = ->(seconds) { at = now + seconds; nil until now >= at }
  rounds = ROUNDS / 10
  pause = 0.00002
  vm = side(there, back, rounds) { |from, to, n| (n + 1).times { from.recv; to << 1; spin.(pause * 0.9) } }
  there << 1
  back.recv
  start = now
  rounds.times { there << 1; back.recv; spin.(pause) }
  per "vm_round_trip_beside_work_of_20_us", rounds, now - start - rounds * pause
  vm.join

  # Both look again and again instead of waiting, so each has a core: a message over two cores and back.
  SMALL.each do |name, value|
    there, back = Channel.new, Channel.new
    vm = side(there, back, ROUNDS) do |from, to, n|
      i = 0
      while i <= n
        nil until (message = from.try_recv)
        to << message
        i += 1
      end
    end
    there << value
    back.recv
    start = now
    i = 0
    while i < ROUNDS
      there << value
      nil until back.try_recv
      i += 1
    end
    per "vm_round_trip_over_two_cores_#{name}", ROUNDS, now - start
    vm.join
  end

  SMALL.each do |name, value|
    pipe, ready = Channel.new, Channel.new
    vm = side(pipe, ready, FLOOD) { |from, to, n| to << 0; i = 0; while i < n; from.recv; i += 1; end; to << 1 }
    ready.recv
    start = now
    i = 0
    while i < FLOOD
      pipe << value
      i += 1
    end
    ready.recv
    rate "vm_flood_#{name}", FLOOD, now - start
    vm.join
  end

  each = FLOOD / MANY / 2
  pipe, ready, go = Channel.new, Channel.new, Channel.new
  vms = Array.new(MANY) { side(pipe, ready, go, each) { |to, r, g, n| r << 0; g.recv; i = 0; while i < n; to << i; i += 1; end } }
  MANY.times { ready.recv }
  start = now
  MANY.times { go << 0 }
  (each * MANY).times { pipe.recv }
  rate "vm_8_to_1", each * MANY, now - start
  vms.each(&:join)

  pipe = Channel.new
  vms = Array.new(MANY) { side(pipe, ready) { |from, r| r << 0; sum = 0; from.each { |x| sum += x }; r << sum } }
  MANY.times { ready.recv }
  start = now
  i = 0
  while i < each * MANY
    pipe << 1
    i += 1
  end
  pipe.close
  got = MANY.times.sum { ready.recv }
  raise "lost: #{got}" unless got == each * MANY
  rate "vm_1_to_8", each * MANY, now - start
  vms.each(&:join)

  # A hundred channels, a message at one of them each time; and all of them full.
  list = Array.new(100) { Channel.new }
  rounds = ROUNDS / 10
  vm = side(list, ready, rounds) { |l, r, n| n.times { |i| l[i * 37 % 100] << i; r.recv } }
  start = now
  rounds.times { RubyVM.select(*list); ready << 0 }
  per "vm_select_of_100_waiting", rounds, now - start
  vm.join
  list.each { |c| rounds.times { |i| c << i } if c.equal?(list[0]) || c.equal?(list[50]) }
  start = now
  (rounds * 2).times { RubyVM.select(*list) }
  per "vm_select_of_100_ready", rounds * 2, now - start
else
  Warning[:experimental] = false

  SMALL.each do |name, value|
    there, back = Queue.new, Queue.new
    thread = Thread.new { (ROUNDS + 1).times { back << there.pop } }
    there << value
    back.pop
    start = now
    ROUNDS.times { there << value; back.pop }
    per "thread_round_trip_#{name}", ROUNDS, now - start
    thread.join

    a, b = IO.pipe(binmode: true)
    c, d = IO.pipe(binmode: true)
    pid = fork { (ROUNDS + 1).times { Marshal.dump(Marshal.load(a), d) }; exit!(0) }
    Marshal.dump(value, b)
    Marshal.load(c)
    start = now
    ROUNDS.times { Marshal.dump(value, b); Marshal.load(c) }
    per "pipe_round_trip_#{name}", ROUNDS, now - start
    Process.wait(pid)

    next unless defined?(Ractor)
    n = ROUNDS / 3
    ractor = Ractor.new(Ractor.current) { |main| while (m = Ractor.receive) != :end; main.send(m); end }
    ractor.send(value)
    Ractor.receive
    start = now
    n.times { ractor.send(value); Ractor.receive }
    per "ractor_round_trip_#{name}", n, now - start
    ractor.send(:end)
  end

  SMALL.each do |name, value|
    queue = Queue.new
    thread = Thread.new { FLOOD.times { queue.pop } }
    start = now
    FLOOD.times { queue << value }
    thread.join
    rate "thread_flood_#{name}", FLOOD, now - start

    a, b = IO.pipe(binmode: true)
    n = FLOOD / 5
    pid = fork { b.close; n.times { Marshal.load(a) }; exit!(0) }
    a.close
    start = now
    n.times { Marshal.dump(value, b) }
    b.flush
    Process.wait(pid)
    rate "pipe_flood_#{name}", n, now - start
  end

  queue = Queue.new
  each = FLOOD / MANY / 2
  start = now
  threads = Array.new(MANY) { Thread.new { each.times { |i| queue << i } } }
  (each * MANY).times { queue.pop }
  rate "thread_8_to_1", each * MANY, now - start
  threads.each(&:join)

  queue = Queue.new
  threads = Array.new(MANY) { Thread.new { sum = 0; while (x = queue.pop); sum += x; end; sum } }
  start = now
  (each * MANY).times { queue << 1 }
  queue.close
  raise "lost" unless threads.sum(&:value) == each * MANY
  rate "thread_1_to_8", each * MANY, now - start
end
