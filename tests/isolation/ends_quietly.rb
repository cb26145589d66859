# A program whose VMs still wait when its main VM ends, ends without a word: nobody is left who could be deadlocked.
small = ENV["ZAKURO_TEST_SCALE"] == "small"
exe = File.readlink("/proc/self/exe")
programs = [
  # Workers at a channel.
  'c = RubyVM::Channel.new; 3.times { RubyVM.fork(c) { |c| nil while c.recv } }; c << 1; puts :done',
  'c = RubyVM::Channel.new; 3.times { RubyVM.new("w", "-e", "while x = RubyVM::ARGV[0].recv; end").start(c) }; c << 1; puts :done',
  # Ractors.
  'rs = 3.times.map { Ractor.new { loop { Ractor.receive } } }; rs[0].send(1); puts :done',
  # What main does last.
  'c = RubyVM::Channel.new; RubyVM.fork(c) { |c| c.recv }; at_exit { sleep 0.001; puts :done }; exit',
  'c = RubyVM::Channel.new; RubyVM.fork(c) { |c| c.recv }; Thread.new { begin; sleep; ensure; sleep 0.001; puts :done; end }; Thread.pass; exit',
  'c = RubyVM::Channel.new; RubyVM.fork(c) { |c| c.recv }; puts :done; $stdout.flush; exit!(0)',
  # A VM that waits for the main one, and others that wait for each other.
  'RubyVM.fork(RubyVM.current) { |m| m.join }; a, b = RubyVM::Channel.new, RubyVM::Channel.new
   RubyVM.fork(a, b) { |a, b| b << a.recv }; RubyVM.fork(a, b) { |a, b| a << b.recv }; puts :done',
  # Waits that end by themselves, by a kill, by a signal.
  'v = RubyVM.fork { RubyVM::Channel.new.recv }; v.join(0.002); v.kill(grace: 0); puts((v.join rescue :done))',
  'c = RubyVM::Channel.new; trap(:USR1) { c << :done }; pid = $$; spawn("kill -USR1 #{pid}"); puts c.recv',
  'q = RubyVM::Channel.new; Thread.ignore_deadlock = true; Thread.new { q.recv }; RubyVM.fork { sleep 0.002 }; sleep 0.004; puts :done',
]
outputs = Hash.new(0)
programs.each_with_index do |program, n|
  jobs = (small ? 1 : 8).times.map { IO.popen([exe, "--disable=gems", "-e", program], err: [:child, :out]) }
  jobs.each do |io|
    text = io.read
    io.close
    text == "done\n" && $?.success? ? outputs[:quiet] += 1 : puts("#{n}: #{$?.exitstatus} #{text}")
  end
end
p outputs[:quiet] == programs.size * (small ? 1 : 8)

# What nothing can end still is an error, in the main VM: for two VMs that wait for each other's end, too.
puts IO.popen([exe, "--disable=gems", "-e", <<~'RUBY'], err: [:child, :out], &:read)
  begin
    RubyVM::Channel.new.recv
  rescue Exception => e
    puts e.class, e.message.gsub(/0x\h+/, "0x")
  end
  both = [RubyVM::Channel.new, RubyVM::Channel.new]
  vms = both.map { |c| RubyVM.fork(c) { |c| c.recv.join } }
  both.zip(vms.reverse) { |c, v| c << v }
  begin
    vms[0].join
  rescue Exception => e
    puts e.class, e.message.gsub(/0x\h+/, "0x")
  end
  vms[1].kill(grace: 0)
  vms.each { |v| begin; v.join; rescue RubyVM::Error => e; p v.report[:kind]; end }
RUBY
