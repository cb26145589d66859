# OpenSSL::Timestamp: requests, an authority, and whether its stamps are believed.
require "openssl"
include OpenSSL

def told
  yield
rescue => e
  "#{e.class}: #{e.message[/\A[^:(]*/].strip}"
end

def issue(name, key, serial, issuer, issuer_key, *extensions)
  cert = X509::Certificate.new
  cert.version, cert.serial, cert.public_key = 2, serial, key
  cert.subject = X509::Name.parse("/CN=#{name}")
  cert.issuer = issuer ? issuer.subject : cert.subject
  cert.not_before, cert.not_after = Time.at(1_600_000_000), Time.at(4_000_000_000)
  factory = X509::ExtensionFactory.new(issuer || cert, cert)
  extensions.each { |oid, value| cert.add_extension(factory.create_extension(oid, value, true)) }
  cert.sign(issuer_key, "SHA256")
end

ca_key, key = PKey::RSA.new(2048), PKey::RSA.new(2048)
ca = issue("ca", ca_key, 1, nil, ca_key, ["basicConstraints", "CA:TRUE"])
tsa = issue("tsa", key, 2, ca, ca_key, ["extendedKeyUsage", "timeStamping"])
store = X509::Store.new.add_cert(ca)

request = Timestamp::Request.new
p request.message_imprint, request.policy_id, request.nonce, request.version, request.cert_requested?
p told { request.to_der }, told { request.algorithm = "xxx" }, told { request.algorithm = nil }, told { request.version = -1 }, told { request.nonce = "a" }
p told { request.nonce = nil }, told { request.policy_id = "foo" }, told { request.message_imprint = nil }
request.algorithm = "sha256"
p request.algorithm, told { request.to_der }
request.message_imprint = OpenSSL::Digest.digest("SHA256", "data")
request.policy_id = "1.2.840.113549.1.9.16.1.4"
p request.policy_id
request.policy_id, request.nonce, request.version = "1.2.3.4", 2**70, 3
p request.policy_id, request.nonce == 2**70, request.version
request.version, request.cert_requested = 1, nil
puts request.to_text
again = Timestamp::Request.new(ASN1.decode(request.to_der))
p again.to_der == request.to_der, again.cert_requested?, again.message_imprint.unpack1("H8"), again.nonce == request.nonce
p told { Timestamp::Request.new("abc") }, told { Timestamp::Response.new("abc") }, told { Timestamp::TokenInfo.new("abc") }, told { Timestamp::Request.new(nil) }

authority = Timestamp::Factory.new
p authority.gen_time, authority.allowed_digests, told { authority.create_timestamp(key, tsa, request) }
authority.gen_time = Time.at(1_700_000_000)
p told { authority.create_timestamp(key, tsa, request) }
authority.serial_number = 4711
rejected = authority.create_timestamp(key, tsa, request)
p rejected.status.to_i, rejected.failure_info, rejected.status_text, rejected.token, rejected.token_info, rejected.tsa_certificate
puts rejected.to_text
p told { rejected.verify(request, store) }
authority.allowed_digests = ["sha1", OpenSSL::Digest.new("SHA256")]
p told { authority.create_timestamp(PKey.read(key.public_to_der), tsa, request) }, told { authority.create_timestamp(ca_key, ca, request) }
plain = Timestamp::Request.new
plain.algorithm, plain.message_imprint = "SHA256", request.message_imprint
p told { authority.create_timestamp(key, tsa, plain) }
authority.default_policy_id = "1.2.3.9"
stamped = authority.create_timestamp(key, tsa, plain)
p stamped.status.to_i, stamped.failure_info, stamped.status_text, stamped.token.type, stamped.tsa_certificate == tsa, stamped.token.certificates.size
info = stamped.token_info
p info.version, info.policy_id, info.algorithm, info.message_imprint == plain.message_imprint, info.serial_number.to_i, info.gen_time, info.ordering, info.nonce
puts info.to_text
p Timestamp::TokenInfo.new(info.to_der).serial_number.to_i, Timestamp::Response.new(stamped.to_der).to_der == stamped.to_der
p stamped.verify(plain, store).equal?(stamped), stamped.verify(plain, store, [ca]).equal?(stamped)
p told { stamped.verify(plain, X509::Store.new) }, told { stamped.verify(nil, store) }, told { stamped.verify(plain, nil) }, told { stamped.verify(plain, store, 1) }
plain.nonce = 5
p told { stamped.verify(plain, store) }

bare = authority.create_timestamp(key, tsa, request)
p bare.token_info.nonce == 2**70, bare.token_info.policy_id, bare.token.certificates, bare.tsa_certificate
p told { bare.verify(request, store) }, bare.verify(request, store, [tsa]).equal?(bare)
authority.additional_certs = [ca]
plain.cert_requested = true
p authority.create_timestamp(key, tsa, plain).token.certificates.map { |cert| cert.serial.to_i }.sort
plain.message_imprint = "short"
short = authority.create_timestamp(key, tsa, plain)
p short.status.to_i, short.failure_info, short.status_text
odd = Timestamp::Response.new("0\"0 \x02\x01\x020\x17\f\x15Invalid TimeStampReq.\x03\x02\x06\x80")
p odd.failure_info, odd.status_text, odd.status_text[0].encoding, odd.to_der.bytesize
