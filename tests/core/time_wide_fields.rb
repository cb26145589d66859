# Fields of times that no machine word holds, as Integers and as texts.
wide = [2**31, 2**62, 2**63 - 1, -2**63, 2**64, 10**30]
(0..5).each do |i|
  wide.each do |n|
    [n, n.to_s].each do |x|
      args = [2024, 1, 1, 0, 0, 0]
      args[i] = x
      %i[gm local new].each { |m| Time.send(m, *args) and i > 0 && puts("#{m} #{i} #{x.inspect} is taken") rescue puts "#{m} #{i} #{x.inspect}: #{$!.class} #{$!.message}" } if i > 0
    end
  end
end
