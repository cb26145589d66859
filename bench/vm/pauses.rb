# How long a program stands still while it is collected, with many objects alive: N of them (3,000,000 unless given) in an Array, or in a Hash.
# pauses.rb [N] prints lines `name value unit` for three programs of eight seconds of processor time: what they make is garbage (`none`), or every eighth object takes the place of another one in the
# Array or Hash. `pause_*_p99`: of the gaps above 0.2 ms between two looks at the clock; `pause_*_share`: part of the time that they take; `pause_*_made`: objects made.
n = Integer(ARGV[0] || 3_000_000)
make = ->(i) { i % 4 == 0 ? { a: i } : i % 4 == 1 ? [i, i.to_s] : i % 4 == 2 ? "string number #{i} with some text, longer than inline" : [i, i, i, i, i].freeze }
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
cpu = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) }
{ "none" => [], "array" => [], "hash" => {} }.each do |kind, live|
  n.times { |i| live[i] = make.(i) }
  GC.start
  puts format("pause_%s_resident %d MB", kind, File.read("/proc/self/status")[/^VmRSS:\s*(\d+)/, 1].to_i / 1024)
  random, made, gaps, began, finish = Random.new(1), 0, [], now.(), cpu.() + 8
  until cpu.() > finish
    last = now.()
    500.times do
      8.times do
        x = make.(made)
        live[random.rand(n)] = x if made % 8 == 0 && kind != "none"
        made += 1
      end
      at = now.()
      gaps << at - last if at - last > 0.0002
      last = at
    end
  end
  time = now.() - began
  gaps.sort!
  { "p50" => 0.5, "p99" => 0.99, "max" => 1 }.each { |name, part| puts format("pause_%s_%s %.2f ms", kind, name, gaps.fetch([(gaps.size * part).to_i, gaps.size - 1].min, 0) * 1e3) }
  puts format("pause_%s_share %.3f x", kind, gaps.sum / time), format("pause_%s_made %.1f M/s", kind, made / time / 1e6)
end
