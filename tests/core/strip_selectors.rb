# `strip` and its kin with sets of characters, as `count` takes them.
p "--ab++".strip("-+"), "--ab++".lstrip("-"), "--ab++".rstrip("+")
p "0123ab4567".strip("0-9", "^3-4"), "ab".strip(""), "---".strip("-")
p "ああxyいい".strip("あい"), "ああxyいい".rstrip("い"), "a\0b\0".rstrip("b"), " x ".strip("y")
p "\t ab \n".strip("a-z"), "xaax".strip("^a")
s = +"==a=="
p s.strip!("="), s, s.strip!("="), s.lstrip!("a"), s
t = +"1a2"
p t.rstrip!("0-9"), t, t.rstrip!("0-9")
begin
  "x".freeze.strip!("y")
rescue FrozenError => e
  puts e.message
end
begin
  "a".strip("z-a")
rescue ArgumentError => e
  puts e.message
end
begin
  "é".strip("é".encode("ISO-8859-1"))
rescue Encoding::CompatibilityError => e
  puts e.message
end
p "\u3042b".encode("EUC-JP").strip("\u3042".encode("EUC-JP")).encode("UTF-8")
