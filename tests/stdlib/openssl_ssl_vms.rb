# TLS and VMs: in both directions, 200 connections at a time, a handshake that never ends (Timeout, kill, limits, closing), what travels.
require "openssl"
require "socket"
require "timeout"
$stdout.sync = true

def issue(name, issuer = nil, ca: false, san: nil)
  key = OpenSSL::PKey::EC.generate("prime256v1")
  cert = OpenSSL::X509::Certificate.new
  cert.version, cert.serial, cert.subject, cert.public_key = 2, rand(1 << 60), OpenSSL::X509::Name.parse("/CN=#{name}"), key
  cert.issuer = (issuer ? issuer[0] : cert).subject
  cert.not_before, cert.not_after = Time.now - 60, Time.now + 3600
  factory = OpenSSL::X509::ExtensionFactory.new(issuer ? issuer[0] : cert, cert)
  cert.add_extension(factory.create_extension("basicConstraints", ca ? "CA:TRUE" : "CA:FALSE", true))
  cert.add_extension(factory.create_extension("subjectAltName", san)) if san
  [cert.sign(issuer ? issuer[1] : key, "SHA256"), key]
end
CA = issue("authority", ca: true)
SERVER = issue("server", CA, san: "IP:127.0.0.1")
TRUST = OpenSSL::X509::Store.new.tap { |s| s.add_cert(CA[0]) }
def client_context = OpenSSL::SSL::SSLContext.new.tap { |c| c.set_params(cert_store: TRUST) }
def server_context = OpenSSL::SSL::SSLContext.new.tap { |c| c.cert, c.key = SERVER }
CLIENT_CONTEXT = client_context

def ask(port, text, context = CLIENT_CONTEXT)
  ssl = OpenSSL::SSL::SSLSocket.open("127.0.0.1", port, context: context)
  ssl.sync_close = true
  ssl.hostname = "127.0.0.1"
  ssl.connect
  ssl.puts text
  ssl.gets.tap { ssl.close }
end
def serve(listener, context)
  loop do
    socket = listener.accept
    Thread.new do
      ssl = OpenSSL::SSL::SSLSocket.new(socket, context)
      ssl.sync_close = true
      ssl.accept
      ssl.puts ssl.gets.upcase
      ssl.close
    rescue SystemCallError, OpenSSL::SSL::SSLError
      ssl.close
    end
  end
end

# A server here, clients in VMs; the context, which was made before the fork, works in each of them.
listener = TCPServer.new("127.0.0.1", 0)
port = listener.addr[1]
serving = Thread.new { serve(listener, server_context) }
ask(port, "first")
p 3.times.map { |i| RubyVM.fork { ask(port, "vm #{i}") } }.map(&:value)
p 200.times.map { |i| Thread.new { ask(port, "n#{i}") } }.map(&:value) == 200.times.map { |i| "N#{i}\n" }
serving.kill

# Servers in VMs that share the listening socket, clients here.
servers = 3.times.map { RubyVM.fork { serve(listener, server_context) } }
p 30.times.map { |i| Thread.new { ask(port, "x#{i}") } }.map(&:value).uniq.size
servers.each { |v| v.kill(grace: 0) }
p servers.map { |v| v.join rescue $!.class }.uniq

# Keys, certificates, digests travel; connections don't.
channel = RubyVM::Channel.new
channel << [SERVER, OpenSSL::Digest.new("SHA256").update("a"), OpenSSL::X509::Name.parse("/CN=n"), TRUST]
p RubyVM.fork { pair, digest, name, store = channel.recv; [pair[0].check_private_key(pair[1]), digest.update("b").hexdigest == OpenSSL::Digest.hexdigest("SHA256", "ab"), name.to_s, store.verify(pair[0])] }.value

# A handshake that never ends.
silent = TCPServer.new("127.0.0.1", 0)
start = -> { OpenSSL::SSL::SSLSocket.open("127.0.0.1", silent.addr[1], context: CLIENT_CONTEXT) }
p((Timeout.timeout(0.2) { start.call.connect } rescue $!.class))
thread = Thread.new { start.call.connect }
sleep 0.1
thread.kill
p thread.join(5) == thread
vm = RubyVM.fork { start.call.connect }
sleep 0.2
vm.kill(grace: 0)
p((vm.join rescue $!.class))
p((RubyVM.fork(wall_limit: 0.3, grace: 0) { start.call.connect }.join rescue $!.class))
ssl = start.call
thread = Thread.new { ssl.connect rescue [$!.class, $!.message] }
sleep 0.1
ssl.io.close
p thread.value
ssl = start.call
ssl.timeout = 0.1
p((ssl.connect rescue $!.class))
raising = OpenSSL::SSL::SSLContext.new.tap { |c| c.set_params(cert_store: TRUST, verify_callback: ->(*) { Thread.exit }) }
serving = Thread.new { serve(listener, server_context) }
p Thread.new { ask(port, "x", raising) }.value
slow = OpenSSL::SSL::SSLContext.new.tap { |c| c.set_params(cert_store: TRUST, verify_callback: ->(ok, _) { sleep 0.02; ok }) }
p 5.times.map { |i| Thread.new { ask(port, "slow #{i}", slow) } }.map(&:value)

# Making a key can be interrupted, and so can a derivation.
p((Timeout.timeout(0.2) { OpenSSL::PKey::DH.generate(8192) } rescue $!.class))
p((Timeout.timeout(0.2) { OpenSSL::KDF.pbkdf2_hmac("p", salt: "s", iterations: 1 << 30, length: 32, hash: "SHA256") } rescue $!.class))
p((Timeout.timeout(0.2) { OpenSSL::KDF.scrypt("p", salt: "s", N: 1 << 14, r: 8, p: 1 << 10, length: 32) } rescue $!.class))
vm = RubyVM.fork { OpenSSL::PKey::DH.generate(8192) }
sleep 0.1
vm.kill(grace: 0)
p((vm.join rescue $!.class))

# TLS in TLS, and over what is no socket.
a, b = UNIXSocket.pair
outer = Thread.new { OpenSSL::SSL::SSLSocket.new(a, server_context).accept }
client = OpenSSL::SSL::SSLSocket.new(b, CLIENT_CONTEXT)
client.hostname = "127.0.0.1"
client.connect
inner = Thread.new { s = OpenSSL::SSL::SSLSocket.new(outer.value, server_context).accept; s.puts s.gets.upcase; s.close }
second = OpenSSL::SSL::SSLSocket.new(client, CLIENT_CONTEXT)
second.hostname = "127.0.0.1"
second.connect
second.puts "inner"
p second.gets, second.ssl_version, second.eof?
inner.join

# Secrets for those who watch the wire.
lines = []
logged = OpenSSL::SSL::SSLContext.new.tap { |c| c.set_params(cert_store: TRUST); c.keylog_cb = ->(_, line) { lines << line[/\A\S+/] } }
p ask(port, "logged", logged), lines.uniq.sort
