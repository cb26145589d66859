# net/https and open-uri against a server with an authority of its own: ca_file, SSL_CERT_FILE, wrong names, a client's certificate, a kept connection.
require "net/https"
require "open-uri"
require "socket"
require "tmpdir"

def issue(name, issuer = nil, ca: false, san: nil)
  key = OpenSSL::PKey::RSA.new(2048)
  cert = OpenSSL::X509::Certificate.new
  cert.version, cert.serial, cert.subject, cert.public_key = 2, rand(1 << 60), OpenSSL::X509::Name.parse("/CN=#{name}"), key
  cert.issuer = (issuer ? issuer[0] : cert).subject
  cert.not_before, cert.not_after = Time.now - 60, Time.now + 3600
  factory = OpenSSL::X509::ExtensionFactory.new(issuer ? issuer[0] : cert, cert)
  cert.add_extension(factory.create_extension("basicConstraints", ca ? "CA:TRUE" : "CA:FALSE", true))
  cert.add_extension(factory.create_extension("subjectAltName", san)) if san
  [cert.sign(issuer ? issuer[1] : key, OpenSSL::Digest.new("SHA256")), key]
end
ca = issue("authority", ca: true)
pair = issue("server", ca, san: "DNS:localhost, IP:127.0.0.1")
context = OpenSSL::SSL::SSLContext.new
context.cert, context.key = pair
tcp = TCPServer.new("127.0.0.1", 0)
port = tcp.addr[1]
server = OpenSSL::SSL::SSLServer.new(tcp, context)
server.start_immediately = false
Thread.new do
  loop do
    ssl = server.accept
    Thread.new do
      ssl.accept
      while (line = ssl.gets)
        size = 0
        while (header = ssl.gets) && header != "\r\n"
          size = header[/\Acontent-length: (\d+)/i, 1].to_i if header.match?(/\Acontent-length/i)
        end
        body = "#{line.chomp} #{ssl.read(size)}"
        ssl.write "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}"
      end
      ssl.close
    rescue SystemCallError, OpenSSL::SSL::SSLError
      ssl.close
    end
  end
end

Dir.mktmpdir do |dir|
  file = File.join(dir, "ca.pem")
  File.write(file, ca[0].to_pem)
  http = Net::HTTP.new("localhost", port)
  http.use_ssl = true
  http.ca_file = file
  http.start do
    p http.get("/one").body, http.post("/two", "content").body, http.peer_cert == pair[0]
  end
  http = Net::HTTP.new("127.0.0.1", port)
  http.use_ssl = true
  p((http.get("/") rescue [$!.class, $!.message[/certificate verify failed.*/]]))
  http = Net::HTTP.new("127.0.0.1", port)
  http.use_ssl, http.verify_mode = true, OpenSSL::SSL::VERIFY_NONE
  p http.get("/unverified").code
  http = Net::HTTP.new("127.0.0.1", port)
  http.use_ssl, http.cert_store = true, OpenSSL::X509::Store.new.tap { |s| s.add_file(file) }
  p http.get("/stored").body
  p URI.open("https://localhost:#{port}/opened", ssl_ca_cert: file, &:read)
  p((URI.open("https://localhost:#{port}/") rescue [$!.class, $!.message[/certificate verify failed.*/]]))
  ENV["SSL_CERT_FILE"] = file
  store = OpenSSL::X509::Store.new
  store.set_default_paths
  p store.verify(pair[0])
end
