# Numbers that fit a long but no int, and those that are no Fixnum any more, where builtins take a count, a status or a process id.
def try
  yield
rescue SystemExit, StandardError => e
  "#{e.class}: #{e.message.sub("`", "'")}"
end

[2**31, 2**40, 2**62, 2**63 - 1, -2**31 - 1, -2**62 - 1, -2**63].each do |n|
  p n
  p try { exit(n) }
  p try { SystemCallError.new("a", n) }
  # What is no Fixnum gets one or the other.
  p try { Struct.new(:a).new(1).values_at(n) }.match?(n.abs < 2**62 ? "RangeError" : /RangeError|IndexError/)
  p try { Process.wait(n) }
  p try { Process.waitpid2(n, Process::WNOHANG) }
  p try { Thread.current.backtrace_locations(n, 1) }
  p try { Thread.current.backtrace(0, n).nil? }
end
p try { exit(-2**31) }
p try { Process.wait(-2**31) }
p [1, 2].cycle(2**61).size
