# What travels in O(1), there and back: a 10-byte String, an Array of Floats, a frozen Hash, a frozen graph of objects (zakuro), against a pipe
# with Marshal (CRuby).
# shared_graphs.rb [SCALE] prints lines `name value unit`: microseconds for a round trip (median), ratios to the String's, and what the first
# send of each costs in milliseconds. SCALE 1: 10 million Floats, a million pairs. The pipe gets a tenth of each: all of it takes 50 s a round.

scale = (ARGV[0] || 1).to_f
scale /= 10 unless defined?(RubyVM::Channel)
Point = Struct.new(:x, :y, :name)

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def median(list)
  list.sort[list.size / 2]
end

def deep_freeze(object)
  case object
  when Hash then object.each { |k, v| [deep_freeze(k), deep_freeze(v)] }
  when Array, Struct then object.each { |x| deep_freeze(x) }
  end
  object.freeze
end

values = {
  "string_10_B" => "0123456789",
  "floats" => Array.new((10_000_000 * scale).to_i) { |i| i * 0.25 },
  "frozen_hash" => deep_freeze((0...(1_000_000 * scale).to_i).to_h { |i| ["key #{i}", "value #{i}"] }),
  "frozen_objects" => deep_freeze(Array.new((300_000 * scale).to_i) { |i| Point.new(i, i * 0.5, "point #{i}") })
}

if defined?(RubyVM::Channel)
  there = RubyVM::Channel.new
  back = RubyVM::Channel.new
  echo = "Point = Struct.new(:x, :y, :name)\nthere, back = RubyVM::ARGV\nwhile (x = there.recv)\n  back << x\nend"
  vm = RubyVM.new("echo", "-e", echo).start(there, back)
  first = {}
  2_000.times { there << "warm"; back.recv }
  values.each do |name, value|
    start = now
    there << value
    first[name] = now - start
    answer = back.recv
    raise "#{name} came back changed" unless answer == value
  end
  GC.start
  times = values.to_h { |name, _| [name, []] }
  # Interleaved, so that a noisy moment hits all alike.
  20.times do
    values.each do |name, value|
      100.times do
        start = now
        there << value
        back.recv
        times[name] << now - start
      end
    end
  end
  there << nil
  vm.join
  base = median(times["string_10_B"])
  times.each do |name, list|
    puts "#{name} #{format('%.3f', median(list) * 1e6)} us"
    puts "#{name}_ratio #{format('%.2f', median(list) / base)} x"
    puts "#{name}_first_send #{format('%.2f', first[name] * 1e3)} ms"
  end
else
  there_r, there_w = IO.pipe(binmode: true)
  back_r, back_w = IO.pipe(binmode: true)
  # Length and bytes: loading from a pipe itself takes ten times as long.
  put = lambda do |io, value|
    bytes = Marshal.dump(value)
    io.write([bytes.bytesize].pack("Q"), bytes)
  end
  get = ->(io) { Marshal.load(io.read(io.read(8).unpack1("Q"))) }
  pid = fork do
    [there_w, back_r].each(&:close)
    while (x = get.(there_r))
      put.(back_w, x)
    end
    exit!(0)
  end
  values.each do |name, value|
    list = Array.new(name == "string_10_B" ? 2_000 : 1) do
      start = now
      put.(there_w, value)
      get.(back_r)
      now - start
    end
    tenth = name == "string_10_B" ? "" : "tenth_of_"
    puts "pipe_#{tenth}#{name} #{format('%.3f', median(list) * 1e6)} us"
  end
  put.(there_w, nil)
  Process.wait(pid)
end
