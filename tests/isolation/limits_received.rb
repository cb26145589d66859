# Descriptors that messages bring count for fd_limit like opened ones; certificates count with what they were made from.
require "socket"

RECEIVED = {
  "recv_io" => "a.send_io($stdin); kept << b.recv_io",
  "recv_io(nil)" => "a.send_io($stdin); kept << b.recv_io(nil)",
  "recvmsg" => "a.sendmsg('x', 0, nil, Socket::AncillaryData.unix_rights($stdin)); kept << b.recvmsg(scm_rights: true)",
}
RECEIVED.each do |name, one|
  results = RubyVM::Channel.new
  RubyVM.new(name, "-e", <<~RUBY, fd_limit: 9).start(results).join
    require "socket"
    a, b = UNIXSocket.pair
    kept = []
    begin
      100.times { #{one} }
    rescue Errno::EMFILE => e
      RubyVM::ARGV[0] << [kept.size, e.message]
    end
  RUBY
  p name, results.try_recv
end

require "openssl"
key = OpenSSL::PKey::EC.generate("prime256v1")
cert = OpenSSL::X509::Certificate.new
cert.version, cert.serial, cert.not_before, cert.not_after = 2, 1, Time.now, Time.now + 60
cert.subject = cert.issuer = OpenSSL::X509::Name.parse("/CN=large")
cert.public_key = key
cert.add_extension(OpenSSL::X509::ExtensionFactory.new.create_extension("nsComment", "x" * 50_000))
cert.sign(key, "SHA256")
vm = RubyVM.fork(cert.to_der, memory_limit: 40 << 20, wall_limit: 30, grace: 0) do |der|
  kept = []
  loop { kept << OpenSSL::X509::Certificate.new(der) }
end
begin
  vm.join
rescue RubyVM::Error => e
  p vm.report[:limit], e.message[/memory limit/]
end
