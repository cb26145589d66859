# Without --gc=stress. bundle install and gem install from a server that an authority of its own vouches for: refused without it, taken with SSL_CERT_FILE.
require_relative "support/commands"
require "openssl"

def issue(name, issuer = nil)
  key = OpenSSL::PKey::EC.generate("prime256v1")
  cert = OpenSSL::X509::Certificate.new
  cert.version, cert.serial, cert.subject, cert.public_key = 2, rand(1 << 60), OpenSSL::X509::Name.parse("/CN=#{name}"), key
  cert.issuer = (issuer ? issuer[0] : cert).subject
  cert.not_before, cert.not_after = Time.now - 60, Time.now + 3600
  factory = OpenSSL::X509::ExtensionFactory.new(issuer ? issuer[0] : cert, cert)
  cert.add_extension(factory.create_extension("basicConstraints", issuer ? "CA:FALSE" : "CA:TRUE", true))
  cert.add_extension(factory.create_extension("subjectAltName", "IP:127.0.0.1")) if issuer
  [cert.sign(issuer ? issuer[1] : key, "SHA256"), key]
end

authority = issue("authority")
context = OpenSSL::SSL::SSLContext.new
context.cert, context.key = issue("127.0.0.1", authority)

Commands.open(context) do |c|
  c.server.gem("leaf", "1.0")
  c.server.gem("tree", "0.5") { |s| s.add_dependency "leaf" }
  c.write "ca.pem", authority[0].to_pem
  c.write "Gemfile", "source \"#{c.server.url}\"\ngem \"tree\"\n"
  c.write "use.rb", "require 'bundler/setup'; require 'tree'; require 'leaf'; p [Tree::VERSION, Leaf::VERSION]\n"

  c.bundle "install", only: /Could not verify|certificate verify failed|Could not fetch/, env: { "BUNDLE_RETRY" => "0" }
  trusted = { "SSL_CERT_FILE" => "#{c.app}/ca.pem" }
  c.bundle "install", only: /Installing|Bundle complete|rror/, env: trusted
  c.ruby "use.rb"
  c.gem "install", "leaf", "--clear-sources", "--source", c.server.url, "--no-document", only: /installed/
  c.gem "install", "leaf", "--clear-sources", "--source", c.server.url, "--no-document", only: /installed|rror/, env: trusted
end
