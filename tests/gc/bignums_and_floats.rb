scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 60 : 1_500
f = 1
(1..scale).each { |i| f *= i }
s = f.to_s
GC.start
p s.to_i == f, f % (scale + 1) >= 0, (f / (f / 7)) >= 7
floats = Array.new(scale * 10) { |i| i * 1.1e-200 }
GC.start
p floats.each_with_index.all? { |x, i| x == i * 1.1e-200 }
p (2**scale - 1).to_s(2).count("1") == scale
