# Each VM is waited for before the next one begins.
12.times { RubyVM.fork { x = 0; 1_500_000.times { |i| x += i.to_s.size } }.join }
