# An ALPN callback that answers what the client did not offer, or fails: both ends learn of it.
require "openssl"
require "socket"
include OpenSSL
key = PKey::EC.generate("prime256v1")
cert = X509::Certificate.new
cert.version, cert.serial, cert.public_key = 2, 5, key
cert.subject = cert.issuer = X509::Name.parse("/CN=a")
cert.not_before, cert.not_after = Time.at(0), Time.at(4_000_000_000)
cert.sign(key, "SHA256")
[->(_) { "h3" }, ->(_) { 5 }, ->(_) { raise ArgumentError, "no" }, ->(offered) { offered.last }].each do |answer|
  context = SSL::SSLContext.new
  context.cert, context.key, context.alpn_select_cb = cert, key, answer
  here, there = UNIXSocket.pair
  server = Thread.new do
    socket = SSL::SSLSocket.new(here, context)
    socket.accept
    socket.alpn_protocol
  rescue => e
    e.class
  end
  asks = SSL::SSLContext.new
  asks.alpn_protocols = %w[h2 http/1.1]
  client = begin
    SSL::SSLSocket.new(there, asks).connect.alpn_protocol
  rescue => e
    e.class
  end
  p [server.value, client]
  [here, there].each(&:close)
end
