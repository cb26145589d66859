# What the reference does not survive: an answer that nobody signed is verified, and one is signed again that names its signer otherwise. And objects that go to
# another VM.
require "openssl"
include OpenSSL
p OCSP::BasicResponse.new.verify([], X509::Store.new)
key = PKey::EC.generate("prime256v1")
cert = X509::Certificate.new
cert.version, cert.serial, cert.public_key = 2, 5, key
cert.subject = cert.issuer = X509::Name.parse("/CN=a")
cert.not_before, cert.not_after = Time.at(0), Time.at(4_000_000_000)
cert.sign(key, "SHA256")
id = OCSP::CertificateId.new(cert, cert)
answer = OCSP::BasicResponse.new.add_status(id, 0, nil, nil, 0, nil, nil)
p answer.verify([cert], X509::Store.new)
store = X509::Store.new.add_cert(cert)
4.times { |i| p answer.add_nonce("n#{i}").sign(cert, key, [], i.even? ? OCSP::RESPID_KEY : 0).verify([], store), answer.responses.size, answer.to_der.include?("n#{i}") }
p OCSP::BasicResponse.new(answer.to_der).sign(cert, key, [], OCSP::RESPID_KEY).sign(cert, key, []).verify([], store)
request = OCSP::Request.new.add_certid(id)
stamp = Timestamp::Request.new
stamp.algorithm = "SHA256"
stamp.nonce = 77
serials = Ractor.new(request, stamp) { |one, two| [one.certid[0].serial.to_i, two.nonce.to_i, two.algorithm] }.value
p serials, request.instance_variables, stamp.instance_variables
