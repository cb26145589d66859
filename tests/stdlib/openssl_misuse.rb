# Natives of OpenSSL's called by whoever finds them, with what OpenSSL itself would look through NULL for, write over, or read beyond: each raises instead.
require "openssl"
require "socket"

native = OpenSSL.const_get(:Native)
def refused
  value = yield
  value.nil? || value == true || value == false ? value : value.class
rescue StandardError, NoMemoryError => e
  [e.class, e.message[0, 60]]
end
socket = OpenSSL::SSL::SSLSocket.new(UNIXSocket.pair[0])
p socket.group, socket.cipher, socket.session, socket.peer_cert, socket.alpn_protocol, socket.finished_message, socket.tmp_key, refused { socket.export_keying_material("x", 5) }.first
# Ciphers without a key, which wrap keys or belong to TLS.
%w[aes-128-gcm id-aes128-wrap aes-128-cbc-hmac-sha1 aes-128-ccm aes-128-xts].each do |name|
  h = native.cipher_new(name)
  native.cipher_init(h, nil, nil, 1)
  p [name, refused { native.cipher_update(h, "x" * 70_000) }, refused { native.cipher_final(h, true) }, refused { native.cipher_auth_data(h, "x") }].flatten.uniq
end
h = native.cipher_new("aes-128-cbc-hmac-sha1")
native.cipher_init(h, "k" * 16, "i" * 16, 1)
p refused { native.cipher_auth_data(h, "x" * 16) }
p [-1, 0, 65, 2**31].map { |n| refused { native.cipher_set(h, :key_len, n) }.first }.uniq
# Names with tags that are read as something else.
p [1, 2, 6, 16, 0, -1, 2**40].map { |tag| refused { OpenSSL::X509::Name.new([["CN", "x", tag]]) }.first }.uniq, OpenSSL::X509::Name.new([["CN", "x", 12]]).to_s
p [[0, 1, 1], [16, 0, 1], [16, 1, 0], [-16, 1, 1], [2**62, 2**62, 2]].map { |n, r, by| refused { native.scrypt("p", "s", n, r, by, 8) }.first }.uniq
p refused { native.scrypt("p", "s", 16, 1, 1, -1) }.first, refused { native.pkcs7_encrypt([], "x", nil, 0) }.first, refused { native.x_set_time(native.x_new(:cert), 0, 2**62) }.first
# A store where a certificate is expected, what was never set up, what is closed, a descriptor's number for a stream.
store = native.store_new
p refused { native.x_der(store) }.first, refused { native.x_sign(store, store, "SHA256") }.first, refused { native.store_add(store, store) }.first, refused { native.x_der(native::Handle.allocate) }.first
p refused { OpenSSL::X509::Certificate.allocate.subject }.first, refused { OpenSSL::PKey::RSA.allocate.n }.first, refused { OpenSSL::Cipher.allocate.update("x") }.first, refused { OpenSSL::Digest.allocate.digest }.first
p refused { native.ssl_new(native.ctx_new(0), 1) }.first
a, = UNIXSocket.pair
ssl = native.ssl_new(native.ctx_new(1), a)
p refused { native.ssl_step(ssl, nil, :handshake, nil, false) }, (a.close; refused { native.ssl_step(ssl, a, :handshake, nil, false) })
# What one call leaves in OpenSSL's queue would be told by the next one.
probe = native.cipher_new("aes-128-gcm")
native.smime_write(native.x_read(:pkcs7, OpenSSL::ASN1.Sequence([OpenSSL::ASN1.ObjectId("pkcs7-data"), OpenSSL::ASN1.OctetString("x", 0, :EXPLICIT)]).to_der), "x", 0) rescue nil
e = begin
  native.cipher_tag(probe, 65)
rescue => e
  e
end
p e.message, e.errors
# Nothing of the process changes.
OpenSSL.debug = true
p OpenSSL.debug, OpenSSL.fips_mode, refused { OpenSSL.fips_mode = true }.first, OpenSSL.errors
OpenSSL::ASN1::ObjectId.register("1.2.3.4.5.6.7", "mine", "my name")
p OpenSSL::ASN1::ObjectId("mine").oid, RubyVM.new("other", "-e", 'require "openssl"; RubyVM::ARGV[0] << (OpenSSL::ASN1::ObjectId("mine").oid rescue $!.class.name)').start(out = RubyVM::Channel.new).join && out.recv
# Errors of VMs at work beside each other stay apart.
kinds = 4.times.map do |i|
  RubyVM.fork(i) do |n|
    Array.new(300) do
      n.even? ? OpenSSL::X509::Certificate.new("none") : OpenSSL::PKey.read("none")
    rescue OpenSSL::OpenSSLError => e
      [e.class.name, e.errors.size]
    end.uniq.size
  end
end
p kinds.map(&:value)

# An allocated context can be set up.
context = OpenSSL::SSL::SSLContext.allocate
context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_CLIENT
p context.session_cache_mode, context.cert, context.setup
