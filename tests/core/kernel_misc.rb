p rand.class
p rand(1)
p rand(1..1)
p [1, 2].include?(rand(1..2))
p Random.rand(1.0) < 1
p srand(5).class
p((srand(42); [rand(100), rand(100), rand]))
p((srand(42); [rand(100), rand(100), rand]))
p __method__.inspect
p block_given?
p binding.class
p caller.class
p frozen?
p nil.to_a
p Integer === 3
p((loop do break 1 end))
p catch(:a) { throw :a, 2 }
p [3].frozen?
p format("%d", 3)
p sprintf("%s", :a)
p(`true`.inspect)
p obj = Object.new.then { 1 }
p 5.instance_of?(Integer)
p 5.respond_to?(:+)
p 5.send(:+, 1)
p 5.public_send(:-, 1)
p 5.method(:*).call(2)
p 5.instance_variables
p 5.singleton_methods
p "a".freeze.frozen?
p 3.clamp(1, 2)
p Kernel.respond_to?(:puts, true)
p Kernel.format("%x", 255)
p Kernel.Integer("5")
p defined?(foo)
p defined?(p)
p defined?(String)
p defined?(@a)
p defined?(a = 1)
p defined?(1 + 1)
p defined?(nil)
p defined?(self)
p defined?(true)
p defined?(super)
p defined?(yield)
p defined?($stdout)
p defined?(@@a)
p defined?([].size)
p defined?([].nope)
p defined?(Foo::Bar)
p defined?(String.new)
p defined?("#{1}")
p defined?(if true then 1 end)
p Object.new.singleton_class.inspect.start_with?("#<Class:#<Object")
p 1.dup
p :a.dup
p nil.dup
p [1, [2]].dup
p "x".clone
p Object.new.dup.class
p 3.itself
p 3.then { _1 + 1 }
p [1, 2].tap { |x| x.size }
p nil.then { 1 }
p [1, 2, 3].to_enum(:each_slice, 2).to_a
p 5.to_enum(:times).to_a
p "ab".enum_for(:each_char).to_a
p((Object.new <=> 1))
p((o = Object.new; o <=> o))
p o === o
p sleep(0)
p((sleep(0.01); 1))
p Process.clock_gettime(Process::CLOCK_MONOTONIC).class
p Process.pid.class
p $0.class
p ARGV
p __dir__ == File.dirname(File.expand_path(__FILE__))
p RUBY_ENGINE.class
p RUBY_VERSION >= "3.0"
p warn
p exit_called = false
p ENV["HOME"].class
p ENV["NOPE_X"]
p((ENV["ZK_T"] = "1"))
p ENV.fetch("ZK_T")
p ENV.key?("ZK_T")
p ENV.delete("ZK_T")
p ENV["ZK_T"]
p ENV.to_h.class
p((begin; ENV["a"] = 1; rescue TypeError => e; e.message; end))
p ENV.fetch("NOPE_X", :d)
p ENV.include?("PATH")
p ENV.inspect.class
p ENV.map { |k, v| k }.include?("PATH")
p ENV.select { |k, v| k == "PATH" }.size
at_exit { puts "bye" }
p gets if false
p [Signal.list["INT"], Signal.list["TERM"], Signal.signame(9)], trap("USR1") { }.class
