# tmp_dh_callback is asked when a cipher wants parameters, and only then: making them takes long.
require "openssl"
require "socket"
key = OpenSSL::PKey::RSA.new(2048)
cert = OpenSSL::X509::Certificate.new
cert.version, cert.serial, cert.public_key = 2, 1, key.public_key
cert.subject = cert.issuer = OpenSSL::X509::Name.parse("/CN=here")
cert.not_before, cert.not_after = Time.now - 60, Time.now + 3600
cert.sign(key, "SHA256")

[["ECDHE-RSA-AES128-GCM-SHA256", false], ["DHE-RSA-AES128-GCM-SHA256", true]].each do |ciphers, wanted|
  asked = 0
  server = OpenSSL::SSL::SSLContext.new
  server.key, server.cert, server.ciphers, server.max_version = key, cert, ciphers, OpenSSL::SSL::TLS1_2_VERSION
  server.tmp_dh_callback = proc do
    asked += 1
    nil
  end
  client = OpenSSL::SSL::SSLContext.new
  client.ciphers = ciphers
  a, b = UNIXSocket.pair
  t = Thread.new { OpenSSL::SSL::SSLSocket.new(a, server).accept.write("hello") rescue nil; a.close }
  begin
    s = OpenSSL::SSL::SSLSocket.new(b, client).connect
    p s.cipher.first, s.read(5) unless wanted
  rescue OpenSSL::SSL::SSLError, SystemCallError
  end
  b.close
  t.join
  p asked > 0
end
