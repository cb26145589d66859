# NUL in patterns: one pattern alone, several, a directory to begin in.
def told
  p yield
rescue ArgumentError => e
  puts e.message
end
told { Dir.glob("a\0b") }
told { Dir["a\0b"] }
told { Dir.glob(["a\0b"]) }
told { Dir.glob(["a", "a\0b"]) }
told { Dir["a", "a\0b"] }
told { Dir.glob("a\0b", base: "nowhere") }
