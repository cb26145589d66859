# A builtin feature that is written in Ruby is there when `require` returns, also in a thread that asks for it while another one loads it.
lacking = Array.new(60) do |n|
  RubyVM.fork(n) do |n|
    busy = Array.new(2) { Thread.new { x = 0; x += 1 while true } }
    threads = Array.new(3) do |k|
      Thread.new do
        sleep 0.0005 * (n % 20) * k
        require "zakuro/cluster/crew"
        RubyVM::Pool.const_get(:Machines).private_method_defined?(:initialize, false) ? 0 : 1
      end
    end
    threads.sum(&:value).tap { busy.each(&:kill) }
  end
end
p lacking.sum(&:value)

# One of two has loaded it.
p 2.times.map { Thread.new { require "json" } }.map(&:value).count(true), JSON.generate([1])
