vm = RubyVM.new("worker-7", "lib/raises.rb")
vm.start
vm.join
