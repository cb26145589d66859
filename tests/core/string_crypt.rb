# String#crypt: what of password and salt counts in each scheme, and what it refuses. (What is no setting at all raises Errno::EINVAL here; the reference's C library has a token for it.)
%w[aa Mi ./ 7a zz].each { |salt| puts "nutmeg".crypt(salt), "".crypt(salt), "01234567".crypt(salt) == "0123456789".crypt(salt) }
puts "hello world".crypt("aa") == "hello world".crypt("aabc"), "é".crypt("ab"), "\xff\x80".crypt("ab")
["", "a", "password", "x" * 15, "x" * 16, "x" * 17, "x" * 63, "x" * 64, "x" * 65, "é" * 70].each do |password|
  puts password.crypt("$1$salt"), password.crypt("$5$salt"), password.crypt("$6$salt")
end
puts "a".crypt("$1$abcdefghijk$tail"), "a".crypt("$5$rounds=1000$abcdefghijklmnopqrstuv"), "a".crypt("$6$rounds=1234$$x"), "a".crypt("$5$"), "a".crypt("$1$")
stored = "secret".crypt("$6$rounds=1001$pepper")
p "secret".crypt(stored) == stored, "Secret".crypt(stored) == stored, stored.encoding == Encoding::BINARY
salt = Object.new
def salt.to_str = "aa"
p "".crypt(salt), Class.new(String).new("x").crypt("aa").class
def refused
  yield
rescue => e
  p [e.class, e.message]
end
refused { "a".crypt("") }
refused { "a".crypt("a") }
refused { "a".crypt("\0a") }
refused { "a\0".crypt("aa") }
refused { "a".crypt(nil) }
refused { "a".crypt(5) }
refused { "a".encode("UTF-16LE").crypt("aa") }
refused { "a".crypt("aa".encode("UTF-16LE")) }
