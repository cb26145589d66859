# Takes the processor time of each of CALLS, or of those that are named: `name TAB nanoseconds`, which `compare` reads.
wanted = ARGV
seconds = Float(ENV["CALL_SECONDS"] || 0.05)
CALLS.each do |name, call|
  next unless wanted.empty? || wanted.include?(name)
  n = 64
  loop do
    started = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    i = 0
    while i < n
      call.()
      i += 1
    end
    took = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - started
    if took > seconds
      puts "#{name}\t#{(took / n * 1e9).round(1)}"
      break
    end
    n *= 2
  end
end
