# TLS in one process: certificates of both sides, names, protocols, sessions, callbacks, what is refused and how.
require "openssl"
require "socket"
$stdout.sync = true

def shown(e) = "#{e.class}: #{e.message.sub(/ peeraddr=.*? state/, " state").sub(/ \(SSL alert number \d+\)/, "")}"
def try = yield.inspect rescue shown($!)

NOW = Time.now
def issue(name, issuer = nil, ca: false, san: nil, from: NOW - 3600, to: NOW + 3600)
  key = OpenSSL::PKey::EC.generate("prime256v1")
  cert = OpenSSL::X509::Certificate.new
  cert.version, cert.serial, cert.subject, cert.public_key = 2, rand(1 << 60), OpenSSL::X509::Name.parse("/CN=#{name}"), key
  cert.issuer = (issuer ? issuer[0] : cert).subject
  cert.not_before, cert.not_after = from, to
  factory = OpenSSL::X509::ExtensionFactory.new(issuer ? issuer[0] : cert, cert)
  cert.add_extension(factory.create_extension("basicConstraints", ca ? "CA:TRUE" : "CA:FALSE", true))
  cert.add_extension(factory.create_extension("subjectAltName", san)) if san
  [cert.sign(issuer ? issuer[1] : key, "SHA256"), key]
end
CA = issue("authority", ca: true)
SERVER = issue("server", CA, san: "DNS:localhost, DNS:*.example.org, IP:127.0.0.1")
CLIENT = issue("client", CA)
TRUST = OpenSSL::X509::Store.new.tap { |s| s.add_cert(CA[0]) }

def server_context(pair = SERVER)
  OpenSSL::SSL::SSLContext.new.tap do |c|
    c.cert, c.key = pair
    yield c if block_given?
  end
end
def client_context
  OpenSSL::SSL::SSLContext.new.tap do |c|
    c.set_params(cert_store: TRUST)
    yield c if block_given?
  end
end

# Both ends of a connection; gives what each of the blocks gives.
def meet(server, client, host: "localhost", session: nil, served: ->(s) { s.puts s.gets.upcase }, used: nil)
  a, b = UNIXSocket.pair
  accepting = Thread.new do
    Thread.current.report_on_exception = false
    ssl = OpenSSL::SSL::SSLSocket.new(a, server)
    ssl.sync_close = true
    begin
      ssl.accept
      served.call(ssl)
    rescue => e
      shown(e)
    ensure
      ssl.close
    end
  end
  ssl = OpenSSL::SSL::SSLSocket.new(b, client)
  ssl.sync_close = true
  ssl.hostname = host if host
  ssl.session = session if session
  result =
    begin
      ssl.connect
      ssl.puts "hello"
      [ssl.gets, used&.call(ssl)]
    rescue => e
      shown(e)
    ensure
      ssl.close
    end
  [result, accepting.value]
end

p meet(server_context, client_context, used: ->(s) { [s.ssl_version, s.cipher[0, 2], s.peer_cert == SERVER[0], s.peer_cert_chain.size, s.verify_result, s.session_reused?, s.pending] })
p meet(server_context { |c| c.max_version = :TLS1_2 }, client_context, used: ->(s) { [s.ssl_version, s.cipher[1], s.tmp_key.class, s.finished_message.size] })
p meet(server_context, client_context, host: "a.example.org")[0][0]

# Refused
p meet(server_context, client_context, host: "other.example.com")[0]
p meet(server_context(issue("old", CA, san: "DNS:localhost", to: NOW - 60)), client_context)[0]
p meet(server_context(issue("early", CA, san: "DNS:localhost", from: NOW + 600)), client_context)[0]
p meet(server_context(issue("self", san: "DNS:localhost")), client_context)
p meet(server_context(issue("self")), client_context { |c| c.verify_mode = OpenSSL::SSL::VERIFY_NONE }, used: ->(s) { s.verify_result })[0]
p meet(server_context { |c| c.min_version = :TLS1_3 }, client_context { |c| c.max_version = :TLS1_2 })
p meet(server_context { |c| c.max_version = :TLS1_2; c.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256" }, client_context { |c| c.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384" })[0]

# The client's certificate
asks = ->(c) { c.cert_store, c.verify_mode = TRUST, OpenSSL::SSL::VERIFY_PEER | OpenSSL::SSL::VERIFY_FAIL_IF_NO_PEER_CERT; c.client_ca = CA[0]; c.max_version = :TLS1_2 }
p meet(server_context(&asks), client_context { |c| c.cert, c.key = CLIENT }, served: ->(s) { s.gets.tap { s.puts s.peer_cert.subject.to_s } })
p meet(server_context(&asks), client_context)[1]
p meet(server_context(&asks), client_context { |c| c.cert, c.key = issue("stranger") })[1]
p meet(server_context(&asks), client_context { |c| c.client_cert_cb = ->(s) { p s.client_ca.map(&:to_s); CLIENT } }, served: ->(s) { s.gets; s.puts s.peer_cert.subject.to_s })[0]

# Names and protocols
contexts = { "one.example.org" => server_context(issue("one", CA, san: "DNS:one.example.org")) }
named = server_context { |c| c.servername_cb = ->((_, name)) { contexts[name] } }
p %w[one.example.org two.example.org].map { |host| meet(named, client_context, host: host, used: ->(s) { s.peer_cert.subject.to_s })[0] }
p meet(server_context { |c| c.servername_cb = ->(_) { raise "no such name" } }, client_context)
chooses = server_context { |c| c.alpn_select_cb = ->(list) { list.include?("h2") ? "h2" : list.last } }
p [%w[http/1.1 h2], %w[x y], nil].map { |list| meet(chooses, client_context { |c| c.alpn_protocols = list if list }, used: ->(s) { s.alpn_protocol })[0] }

# Sessions
[:TLS1_2, :TLS1_3].each do |version|
  made = []
  server = server_context { |c| c.max_version = version; c.session_id_context = "x" }
  client = client_context { |c| c.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_CLIENT; c.session_new_cb = ->((_, session)) { made << session } }
  p meet(server, client, used: ->(s) { s.session_reused? })[0]
  p made.empty?, meet(server, client, session: made.last, used: ->(s) { [s.session_reused?, s.session.id.class] })[0]
end
session = nil
meet(server_context { |c| c.max_version = :TLS1_2 }, client_context, used: ->(s) { session = s.session })
again = OpenSSL::SSL::Session.new(session.to_pem)
p again == session, again.timeout > 0, again.id == session.id

# The program decides.
seen = []
p meet(server_context, client_context { |c| c.verify_callback = ->(ok, x) { seen << [ok, x.error_depth, x.current_cert.subject.to_s, x.chain.size]; ok } })[0], seen.uniq
seen = []
p meet(server_context(issue("self", san: "DNS:localhost")), client_context { |c| c.verify_callback = ->(ok, x) { seen << [ok, x.error, x.error_string]; true } }, used: ->(s) { s.verify_result })[0], seen.uniq
p meet(server_context, client_context { |c| c.verify_callback = ->(*) { false } })[0][/\A[^(]+/]
seen = []
asks_and_looks = ->(c) { asks.(c); c.verify_callback = ->(ok, x) { seen << [ok, x.current_cert.subject.to_s]; ok } }
p meet(server_context(&asks_and_looks), client_context { |c| c.cert, c.key = CLIENT })[0], seen.uniq

# IO's methods
out = nil
meet(server_context, client_context, served: ->(s) { s.gets; s.write("a\nbb\n", "ccc"); s.print "d", 1; s << "e\n\n"; s.puts ["f", ["g"]], nil; s.printf("%03d", 7) },
  used: ->(s) { out = [s.gets, s.getc, s.ungetc("!"), s.readline, s.read(2), s.readpartial(100), s.eof?, s.read, s.gets, (s.readline rescue $!.class)] })
p out
meet(server_context, client_context, served: ->(s) { s.gets; s.puts; s.write "x" * 100_000 }, used: ->(s) { out = [s.read_nonblock(5, exception: false).class, s.read.bytesize, s.closed?] })
p out[1] + (out[0] == String ? 5 : 0) >= 100_000, out[2]
a, b = UNIXSocket.pair
ssl = OpenSSL::SSL::SSLSocket.new(a, client_context)
p ssl.connect_nonblock(exception: false), try { ssl.connect_nonblock }, try { OpenSSL::SSL::SSLSocket.new(b).sysread(1) }
b.close
p try { ssl.connect }.sub(/.*: /, "")
p OpenSSL::SSL.verify_certificate_identity(SERVER[0], "127.0.0.1"), OpenSSL::SSL.verify_certificate_identity(SERVER[0], "b.a.example.org"), server_context.frozen?, client_context.tap(&:setup).frozen?
p try { client_context.tap(&:setup).ca_file = "x" }[/\A\w+/], try { server_context { |c| c.key = CLIENT[1] }.setup }
