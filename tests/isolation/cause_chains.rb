# A VM that ends by an exception with very many causes: its report is made in linear time, and a kill or a limit is heard meanwhile.
CHAIN = ENV["ZAKURO_TEST_SCALE"] == "small" ? 20_000 : 100_000
chain = <<~RUBY
  e = nil
  #{CHAIN}.times { begin; begin; raise e if e; raise "x"; rescue; raise "y"; end; rescue => x; e = x; end }
RUBY
ends = {
  "by itself" => "raise e",
  "in a thread" => "Thread.new { raise e }; sleep",
  "at_exit" => "at_exit { raise e }; exit",
  "in a message" => "loop { e.full_message.size }",
}
ends.each do |name, text|
  ready = RubyVM::Channel.new
  vm = RubyVM.new("chain", "-e", "#{chain}\nRubyVM::ARGV[0] << 1\n$stderr = File.open(File::NULL, 'w')\n#{text}", grace: 0).start(ready)
  ready.recv
  sleep 0.02
  before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  vm.kill(grace: 0)
  begin
    vm.join
  rescue RubyVM::Error
    # Killed, or it ended by the exception before that.
  end
  late = Process.clock_gettime(Process::CLOCK_MONOTONIC) - before
  puts "#{name}: #{late < 1.5 ? "ended" : "after %.1f s" % late}"
end
