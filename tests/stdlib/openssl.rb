require "openssl"

def try = yield.inspect rescue "#{$!.class}: #{$!.message[0, 40]}"
def hex(s) = s.unpack1("H*")

text = "the quick brown fox"
%w[MD5 SHA1 SHA224 SHA256 SHA384 SHA512].each do |name|
  d = OpenSSL::Digest.new(name)
  d << text[0, 5] << text[5..]
  p [d.name, d.hexdigest, d.digest_length, d.block_length, d.dup.update("x").hexdigest == d.hexdigest, OpenSSL::Digest.const_get(name).hexdigest(text) == d.hexdigest, d.reset.hexdigest]
  p OpenSSL::HMAC.hexdigest(name, "key", text), OpenSSL::HMAC.hexdigest(OpenSSL::Digest.new(name), "k" * 200, ""), OpenSSL::HMAC.new("key", name).update(text).hexdigest
  p hex(OpenSSL::KDF.pbkdf2_hmac("pass", salt: "salt", iterations: 7, length: 50, hash: name)), hex(OpenSSL::KDF.hkdf("secret", salt: "salt", info: "info", length: 40, hash: name))
end
p OpenSSL::Digest::SHA256.new("abc").hexdigest, OpenSSL::Digest.digest("sha256", "abc") == OpenSSL::Digest::SHA256.digest("abc"), OpenSSL::Digest.new("SHA2-256").name, OpenSSL::Digest("SHA256")
p OpenSSL::PKCS5.pbkdf2_hmac_sha1("p", "s", 3, 20) == OpenSSL::KDF.pbkdf2_hmac("p", salt: "s", iterations: 3, length: 20, hash: "SHA1"), OpenSSL::Random.random_bytes(9).bytesize
p OpenSSL.secure_compare("a", "a"), OpenSSL.secure_compare("a", "b"), try { OpenSSL.fixed_length_secure_compare("a", "bc") }, OpenSSL::HMAC.new("k", "SHA1") == OpenSSL::HMAC.new("k", "SHA1")

def crypt(name, data, iv_len, parts: 7)
  c = OpenSSL::Cipher.new(name).encrypt
  c.key = (0...c.key_len).map(&:chr).join.b
  c.iv_len = iv_len if c.authenticated? && iv_len != 12
  c.iv = "i" * c.iv_len if c.iv_len > 0
  c.auth_data = "associated data of no block's length" if c.authenticated?
  out = data.b.scan(/.{1,#{parts}}/mn).map { |part| hex(c.update(part)) }
  out << hex(c.final)
  whole = [out.join].pack("H*")
  d = OpenSSL::Cipher.new(name).decrypt
  d.key = (0...d.key_len).map(&:chr).join.b
  d.iv_len = iv_len if d.authenticated? && iv_len != 12
  d.iv = "i" * d.iv_len if d.iv_len > 0
  if d.authenticated?
    d.auth_tag = c.auth_tag
    d.auth_data = "associated data of no block's length"
  end
  back = d.update(whole) + d.final
  [name, c.key_len, c.iv_len, c.block_size, c.authenticated?, out, (hex(c.auth_tag) if c.authenticated?), back == data.b]
end
[128, 192, 256].each do |size|
  %w[ecb cbc ctr gcm].each { |mode| ["x", "sixteen bytes!!!", "more than two whole blocks of text, as it were"].each { |data| p crypt("aes-#{size}-#{mode}", data, 12) } }
end
p crypt("AES-256-GCM", "another nonce", 16), crypt("aes-128-cbc", "a" * 100, 16, parts: 33)

c = OpenSSL::Cipher.new("aes-128-cbc").encrypt
p try { c.key = "short" }, try { c.iv = "short" }
c.pkcs5_keyivgen("password", "8 octets")
p hex(c.update("secret") + c.final)
# Without padding, and what is no message.
c = OpenSSL::Cipher.new("AES-128-ECB").encrypt
c.padding = 0
c.key = "k" * 16
p hex(c.update("16 bytes exactly") + c.final), try { c.reset; c.update("15 bytes only.."); c.final }
d = OpenSSL::Cipher.new("AES-128-CBC").decrypt
d.key = "k" * 16
d.iv = "i" * 16
p try { d.update("x" * 16) + d.final }, try { d.reset; d.update("x" * 15); d.final }
g = OpenSSL::Cipher.new("aes-128-gcm").encrypt
g.key, g.iv, g.auth_data = "k" * 16, "n" * 12, ""
sent, tag = g.update("message") + g.final, g.auth_tag
bad = OpenSSL::Cipher.new("aes-128-gcm").decrypt
bad.key, bad.iv, bad.auth_data, bad.auth_tag = "k" * 16, "n" * 12, "", tag.reverse
bad.update(sent)
begin
  bad.final
rescue OpenSSL::Cipher::CipherError
  p :refused
end
p OpenSSL::Cipher::AES256.new(:CBC).key_len, OpenSSL::Cipher::AES.new(128, :CTR).iv_len, OpenSSL::Cipher.new("aes-256-cbc").random_key.bytesize, OpenSSL::Cipher.ciphers.include?("aes-256-gcm")
# Needs the standard library.
