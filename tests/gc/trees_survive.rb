scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 4 : 40
def build(d) = d == 0 ? ["leaf"] : [build(d - 1), build(d - 1), "n#{d}"]
def check(t, d) = d == 0 ? t == ["leaf"] : t[2] == "n#{d}" && check(t[0], d - 1) && check(t[1], d - 1)
keep = build(8)
ok = scale.times.all? do
  t = build(7)
  check(t, 7) && check(keep, 8)
end
p ok
