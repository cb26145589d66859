scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 3 : 40
# Under --gc=stress every block call collects.
sizes = ENV["ZAKURO_TEST_SCALE"] == "small" ? [100, 4_000] : [100, 4_000, 70_000, 1_000_000]
ok = true
scale.times do |i|
  sizes.each do |n|
    s = (65 + i % 26).chr * n
    a = Array.new(n / 10) { |k| k + i }
    ok &&= s.size == n && s[-1] == (65 + i % 26).chr && a[-1] == n / 10 - 1 + i
    s << "tail"
    a.concat([1, 2])
    ok &&= s.end_with?("tail") && a.last == 2
  end
end
p ok
