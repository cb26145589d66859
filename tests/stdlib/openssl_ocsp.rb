# OpenSSL::OCSP: who asks about certificates, who answers, and what is refused.
require "openssl"
include OpenSSL

def told
  yield
rescue => e
  "#{e.class}: #{e.message[/\A[^:(]*/].strip}"
end

def issue(name, key, serial, issuer = nil, issuer_key = key, *extensions)
  cert = X509::Certificate.new
  cert.version, cert.serial, cert.public_key = 2, serial, key
  cert.subject = X509::Name.parse("/CN=#{name}")
  cert.issuer = issuer ? issuer.subject : cert.subject
  cert.not_before, cert.not_after = Time.at(1_600_000_000), Time.at(4_000_000_000)
  factory = X509::ExtensionFactory.new(issuer || cert, cert)
  extensions.each { |oid, value| cert.add_extension(factory.create_extension(oid, value, true)) }
  cert.sign(issuer_key, "SHA256")
end

ca_key, key, answerer_key = Array.new(3) { PKey::EC.generate("prime256v1") }
ca = issue("ca", ca_key, 1, nil, ca_key, ["basicConstraints", "CA:TRUE"], ["keyUsage", "cRLSign,keyCertSign"])
cert = issue("one", key, 5, ca, ca_key)
answerer = issue("answers", answerer_key, 9, ca, ca_key, ["extendedKeyUsage", "OCSPSigning"])
store = X509::Store.new.add_cert(ca)

id = OCSP::CertificateId.new(cert, ca)
other = OCSP::CertificateId.new(answerer, ca, "SHA256")
p id.serial.to_i, id.hash_algorithm, other.hash_algorithm
p id.issuer_name_hash == OpenSSL::Digest.hexdigest("SHA1", ca.subject.to_der), id.issuer_key_hash.size, id.issuer_key_hash.encoding
p id.cmp(id.dup), id.cmp(other), id.cmp_issuer(OCSP::CertificateId.new(answerer, ca)), OCSP::CertificateId.new(id.to_der).cmp(id), OCSP::CertificateId.new(ASN1.decode(id.to_der)).cmp(id)
p told { id.cmp(1) }, told { OCSP::CertificateId.new("abc") }, told { OCSP::CertificateId.new(cert, 1) }, told { OCSP::CertificateId.allocate.serial }

request = OCSP::Request.new
p request.certid, request.signed?, request.to_der
p request.add_certid(id).equal?(request), request.add_certid(other).certid.map { |one| one.serial.to_i }
p request.verify([], store), told { request.verify(nil, store) }, told { request.verify([], nil) }
p told { request.sign(cert, PKey.read(key.public_to_der)) }, told { request.sign(cert, ca_key) }, told { request.sign(1, key) }
p request.sign(cert, key, [], 0, "SHA512").equal?(request), request.signed?, request.verify([], store), request.verify([], X509::Store.new)
p OCSP::Request.new(request.to_der).verify([], store), request.dup.to_der == request.to_der
p told { OCSP::Request.new("abc") }, told { OCSP::Request.allocate.to_der }

answer = OCSP::BasicResponse.new
p answer.status, answer.responses, answer.find_response(id), told { answer.to_der }
p request.check_nonce(answer)
request.add_nonce("abc")
p request.check_nonce(answer), answer.copy_nonce(request), request.check_nonce(answer), answer.add_nonce("abd").equal?(answer), request.check_nonce(answer)
p OCSP::Request.new.check_nonce(answer), answer.copy_nonce(OCSP::Request.new)

revoked = Time.at(1_650_000_000)
p answer.add_status(id, OCSP::V_CERTSTATUS_REVOKED, OCSP::REVOKED_STATUS_KEYCOMPROMISE, revoked, -300, nil, [X509::Extension.new("1.2.3", "\x04\x01a")]).equal?(answer)
answer.add_status(other, OCSP::V_CERTSTATUS_GOOD, nil, nil, -300, 500, nil)
p told { answer.add_status(id, 7, 0, nil, 0, nil, nil) }[/\A[\w:]+(?=:)/], told { answer.add_status(id, 1, nil, 0, 0, nil, nil) }[/\A\w+/], told { answer.add_status(id, 0, 0, nil, 0, nil, [1]) }
p told { answer.add_status(1, 0, 0, nil, 0, nil, nil) }, told { answer.add_status(id, 1, 0, nil, 0, nil, nil) }
one, two = answer.responses
p one.certid.cmp(id), one.cert_status, one.revocation_reason, one.revocation_time == revoked, one.next_update, one.extensions.map(&:to_a)
p (Time.now - one.this_update).round(-2), one.check_validity, one.check_validity(0, 10), two.check_validity(0, 1000), two.check_validity
p two.cert_status, told { two.revocation_time }, told { two.revocation_reason }, (two.next_update - two.this_update).to_i
p answer.find_response(other).certid.cmp(other), OCSP::SingleResponse.new(one.to_der).dup.to_der == one.to_der
p answer.status.map { |of, status, reason, *times, extensions| [of.serial.to_i, status, reason, times.map(&:class), extensions.size] }

p answer.sign(answerer, answerer_key).equal?(answer), answer.verify([], store), answer.verify([answerer], store)
p answer.sign(answerer, answerer_key, []).verify([], store), answer.verify([], X509::Store.new), answer.verify([], X509::Store.new, OCSP::NOVERIFY)
p OCSP::BasicResponse.new.add_status(other, 0, nil, nil, 0, nil, nil).sign(answerer, answerer_key, [], OCSP::RESPID_KEY, "SHA384").verify([], store)
p OCSP::BasicResponse.new.add_status(other, 0, nil, nil, 0, nil, nil).sign(cert, key, []).verify([], store)
p OCSP::BasicResponse.new(answer.to_der).verify([], store), answer.dup.to_der == answer.to_der, told { answer.sign(answerer, key) }

response = OCSP::Response.create(OCSP::RESPONSE_STATUS_SUCCESSFUL, answer)
p response.status, response.status_string, response.basic.verify([], store), OCSP::Response.new(response.to_der).basic.to_der == answer.to_der, response.dup.to_der == response.to_der
late = OCSP::Response.create(OCSP::RESPONSE_STATUS_TRYLATER, nil)
p late.status, late.status_string, late.basic, late.to_der, OCSP::Response.new.status
p told { OCSP::Response.create(0, OCSP::BasicResponse.new) }, told { OCSP::Response.create(0, 1) }, told { OCSP::Response.create("a", nil) }, told { OCSP::Response.new("abc") }
p OCSP.constants.grep(/\A(NO|RESPID|TRUST)/).sort.map { |name| [name, OCSP.const_get(name)] }
