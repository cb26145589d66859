# An exception that cannot follow its VM's end, since it refers to something of a class that only that VM has: the end is told all the same, and another error stands for it.
vm = RubyVM.fork do
  error = RuntimeError.new("odd")
  error.instance_variable_set(:@part, Class.new.new)
  $stderr.reopen(File::NULL)
  raise error
end
%i[join value].each do |how|
  vm.public_send(how)
rescue => e
  puts "#{e.class}: #{e.message[/\AVM fork of main: odd \(RuntimeError\)/]}", e.cause.inspect
end
p vm.report.slice(:kind, :exception, :message)
