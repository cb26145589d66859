# Needs redis-server and nats-server.
# Passwords and TLS: who has no right is told so, and no secret is shown anywhere (docs/cluster.md).
require "tmpdir"
require "openssl"
require_relative "support/servers"

def tried
  yield
rescue Exception => e
  $shown << e.full_message << e.inspect
  [e.class, e.message.gsub(/:\d{4,5}\b/, ":PORT")]
end
$shown = []

def certificate(dir)
  key = OpenSSL::PKey::RSA.new(2048)
  made = OpenSSL::X509::Certificate.new
  made.version = 2
  made.serial = 1
  made.subject = made.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
  made.public_key = key.public_key
  made.not_before, made.not_after = Time.now - 60, Time.now + 3600
  extensions = OpenSSL::X509::ExtensionFactory.new
  extensions.subject_certificate = extensions.issuer_certificate = made
  made.add_extension(extensions.create_extension("subjectAltName", "IP:127.0.0.1,DNS:localhost"))
  made.add_extension(extensions.create_extension("basicConstraints", "CA:TRUE", true))
  made.sign(key, OpenSSL::Digest.new("SHA256"))
  paths = [File.join(dir, "cert.pem"), File.join(dir, "key.pem")]
  File.write(paths[0], made.to_pem)
  File.write(paths[1], key.to_pem)
  paths
end

Dir.mktmpdir do |dir|
  paths = certificate(dir)
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    [nil, paths].each do |tls|
      place = File.join(dir, tls ? "tls" : "plain")
      Dir.mkdir(place) unless Dir.exist?(place)
      server = Servers.start(kind, place, password: "geheim", certificate: tls)
      begin
        trust = tls ? { ca_file: paths[0] } : {}
        name = kind == "redis" ? "" : "someone"
        p tried { RubyVM::Channel.open(server.url("x"), **trust) }.first
        p tried { RubyVM::Channel.open(server.url("x", "#{name}:falsch-geheim"), **trust) }.first
        c = RubyVM::Channel.open(server.url("x", "#{name}:geheim"), **trust)
        c << [1, "two"]
        p c.recv
        # Also in a VM that gets the handle; not outside of the process.
        p RubyVM.fork(c) { |given| given << :from_there; given.inspect.include?("geheim") }.value, c.recv(timeout: 5)
        p tried { Marshal.dump(c) }
        $shown << c.inspect << c.address << c.stat.inspect << c.to_s
        p tried { RubyVM::Channel.open(server.url("x"), **trust, **(kind == "redis" ? {} : { user: "someone" }), password: "geheim").closed? }
        # A certificate that nobody vouches for.
        p tried { RubyVM::Channel.open(server.url("x", "#{name}:geheim"), timeout: 0.5) }.first if tls
        p tried { RubyVM::Channel.open(server.url("x", "#{name}:geheim"), timeout: 0.5, verify: false).closed? } if tls
      ensure
        server.stop
      end
    end
  end
end
p $shown.grep(/geheim/)

# Nor does the heap of a program that has read them and forgotten.
Dir.mktmpdir do |dir|
  File.write(File.join(dir, "program.rb"), <<~'RUBY')
    def make(place, kind)
      url, key = File.read(place).split
      kind == "pool" ? RubyVM::Pool.new(connect: url, key:) : RubyVM::Channel.open(url, key:)
    end
    def deep(n) = n == 0 ? 0 : deep(n - 1) + 1
    made = Thread.new { make(*ARGV) }.value
    deep(200)
    5.times { Array.new(10) { |i| "z#{i}" * 20 }; GC.start }
    found = nil
    # (A thread that has yet to connect has the password for a moment.)
    50.times do
      deep(200)
      GC.start
      found = ObjectSpace.each_object(String).select { |s| s.bytesize < 200 && s.match?(/[g]eheim/) }
      break if found.empty?
      sleep 0.1
    end
    p found
    made.is_a?(RubyVM::Pool) ? made.shutdown : made.disconnect
  RUBY
  %w[redis nats].each do |kind|
    server = Servers.start(kind, dir, password: "geheim")
    File.write(File.join(dir, "url.txt"), server.url("x", "#{"someone" if kind == "nats"}:geheim") + " geheimer")
    %w[pool channel].each { |what| print kind, " ", what, " ", IO.popen([RbConfig.ruby, File.join(dir, "program.rb"), File.join(dir, "url.txt"), what], &:read) }
  ensure
    server&.stop
  end
end
# Needs the standard library.
