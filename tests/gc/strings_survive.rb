scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 300 : 60_000
kept = []
scale.times do |i|
  s = "string number #{i} " * (i % 7 + 1)
  kept << s if i % 50 == 0
  s.upcase.reverse.split(" ").map(&:capitalize).join("-")
end
GC.start
p kept.each_with_index.all? { |s, k| s == "string number #{k * 50} " * (k * 50 % 7 + 1) }
slices = kept.map { |s| s[3..] }
kept = nil
GC.start
scale.times { |i| "noise #{i}" * 3 }
p slices.each_with_index.all? { |s, k| s == ("string number #{k * 50} " * (k * 50 % 7 + 1))[3..] }
