# A child that raises, exits, aborts, overflows its stack or loops into a deep structure ends alone.
$stderr.reopen(File::NULL, "w") if $stderr.respond_to?(:reopen)
codes = {
  "raise" => "raise ArgumentError, 'in the child'",
  "exit" => "exit 3",
  "exit!" => "exit!(4)",
  "abort" => "abort 'gone'",
  "overflow" => "def f = f() + 1\nf",
  "syntax" => "def (",
  "fine" => "1"
}
codes.each do |name, code|
  vm = RubyVM.new("ruby", "-e", code)
  vm.start
  how = begin
    vm.join
    :joined
  rescue Exception => e
    :raised
  end
  # Whether an exit status is raised or returned by join is not the matter here; that errors are is.
  puts "#{name}: #{%w[raise overflow syntax fine].include?(name) ? how : :ended}"
end
ch = RubyVM::Channel.new
vm = RubyVM.new("ruby", "-e", "RubyVM::ARGV[0] << 6 * 7")
vm.start(ch)
p ch.recv
vm.join
puts "the master goes on"
