# OpenSSL: PKCS #7 put together part by part, configurations, RFC 2253 names, blocks of key generation. What is random is not shown.
require "openssl"

def refused
  yield
rescue => e
  e.class
end
key = OpenSSL::PKey::RSA.new(2048)
cert = OpenSSL::X509::Certificate.new
cert.version, cert.serial, cert.public_key = 2, 7, key
cert.subject = cert.issuer = OpenSSL::X509::Name.parse("/CN=signer")
cert.not_before, cert.not_after = Time.now - 60, Time.now + 3600
factory = OpenSSL::X509::ExtensionFactory.new(cert, cert)
cert.add_extension(factory.create_extension("extendedKeyUsage", "emailProtection"))
cert.sign(key, "SHA256")
store = OpenSSL::X509::Store.new
store.add_cert(cert)

made = OpenSSL::PKCS7.new
made.type = :signed
made.add_signer(OpenSSL::PKCS7::SignerInfo.new(cert, key, OpenSSL::Digest.new("SHA256")))
made.add_certificate(cert)
3.times { |i| made.add_data("content #{i}") }
p made.type, made.detached?, made.signers.size, made.signers[0].serial.to_i, made.certificates.size
read = OpenSSL::PKCS7.new(made.to_der)
p read.verify([], store), read.data, read.signers[0].issuer.to_s
other = OpenSSL::PKCS7.sign(cert, key, "content 2")
made.add_signer(other.signers[0])
p OpenSSL::PKCS7.new(made.to_der).signers.size

sealed = OpenSSL::PKCS7.new
sealed.type = "enveloped"
sealed.cipher = "AES-128-CBC"
sealed.add_recipient(OpenSSL::PKCS7::RecipientInfo.new(cert))
sealed.add_data("a secret")
p OpenSSL::PKCS7.new(sealed.to_der).decrypt(key, cert), sealed.recipients.map { |one| one.serial.to_i }
plain = OpenSSL::PKCS7.new
plain.type = :data
plain.data = "plain"
p plain.to_der.unpack1("H*"), refused { plain.add_certificate(cert) }, refused { plain.cipher = "aes-128-cbc" }, plain.certificates
p refused { OpenSSL::PKCS7.new.type = :nothing }, refused { made.add_signer(5) }, refused { made.add_certificate(nil) }

config = OpenSSL::Config.parse(<<~'TEXT')
  name = value # a comment
  other::key = 'quoted # not a comment' "and \" more"
   = empty
  [ section one ]
  ref = ${default::name}-$(name)
  long = a \
  b
TEXT
p config.sections.sort, config["default"], config["other"], config["section one"], config.get_value("section one", "name")
puts OpenSSL::Config.parse("[empty]\n").to_s
["a b = c", "a = $none", "a = ${b", "[a"].each { |text| p refused { OpenSSL::Config.parse(text) } }

scan = OpenSSL::X509::Name::RFC2253DN.method(:scan)
["CN=a,O=b", 'CN="a,b",O=\\,c', "CN", "CN=a,", "CN=a;", "CN=#77", 'CN="a"b'].each { |text| p((scan.call(text) rescue [$!.class, $!.message[/=>.*/]])) }

told = []
p refused { OpenSSL::PKey.generate_parameters("DSA", { "dsa_paramgen_bits" => 1024 }) { |*numbers| told << numbers; raise IndexError if told.size == 3 } }, told.size, told.flatten.all?(Integer)
