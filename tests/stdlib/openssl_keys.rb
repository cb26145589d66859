# OpenSSL: keys, numbers, ASN.1, certificates, requests, lists of revoked ones, names, extensions, PKCS #7 and #12. What is random is not shown.
require "openssl"

def try = yield.inspect rescue "#{$!.class}: #{$!.message[0, 60]}"

# Numbers
a, b = OpenSSL::BN.new("123456789012345678901234567890"), OpenSSL::BN.new("-ff", 16)
p (a + b).to_s, (a * b).to_s(16), (a / 7).map(&:to_s), (a % 97).to_i, a.mod_exp(3, 1_000_007).to_i, a.num_bits, b.negative?, a <=> b, a == a.to_i
p OpenSSL::BN.new(17).mod_inverse(3120).to_i, OpenSSL::BN.new(12).gcd(18).to_i, OpenSSL::BN.new("\x01\x00", 2).to_i, a.to_s(0).unpack1("H*"), b.to_s(2).unpack1("H*")
p OpenSSL::BN.new(2**127 - 1).prime?, OpenSSL::BN.new(2**128 - 1).prime?, OpenSSL::BN.generate_prime(64, false).num_bits, 5.to_bn.class
p [try { a / 0 }, try { OpenSSL::BN.new("x") }, try { OpenSSL::BN.new(6).mod_inverse(3) }].map { |s| s[/\A\S+/] }

# ASN.1
der = OpenSSL::ASN1::Sequence([
  OpenSSL::ASN1::Integer(-129), OpenSSL::ASN1::ObjectId("SHA256"), OpenSSL::ASN1::UTF8String("tést"), OpenSSL::ASN1::Null(nil), OpenSSL::ASN1::Boolean(true),
  OpenSSL::ASN1::OctetString("x" * 200), OpenSSL::ASN1::UTCTime(Time.utc(2030, 1, 2, 3, 4, 5)), OpenSSL::ASN1::GeneralizedTime(Time.utc(2130, 1, 2, 3, 4, 5)),
  OpenSSL::ASN1::Set([OpenSSL::ASN1::Integer(1, 0, :EXPLICIT), OpenSSL::ASN1::Integer(2, 1, :IMPLICIT)]), OpenSSL::ASN1::BitString("\xf0"),
  OpenSSL::ASN1::ASN1Data.new("raw", 40, :APPLICATION), OpenSSL::ASN1::Enumerated(3)
]).to_der
puts der.unpack1("H*")
tree = OpenSSL::ASN1.decode(der)
tree.value.each { |v| p [v.class, v.tag, v.tag_class, v.value.is_a?(Array) ? v.value.size : v.value.is_a?(OpenSSL::BN) ? v.value.to_i : v.value] }
p tree.to_der == der, OpenSSL::ASN1.traverse(der) { |*x| p x }, OpenSSL::ASN1.decode_all("\x02\x01\x05\x05\x00").size
oid = OpenSSL::ASN1::ObjectId("2.5.4.3")
p oid.sn, oid.ln, oid.oid, oid == OpenSSL::ASN1::ObjectId("CN")
p [try { OpenSSL::ASN1.decode("\x30\x05\x02") }, try { OpenSSL::ASN1.decode("") }, try { OpenSSL::ASN1::ObjectId("no such").to_der }].map { |s| s[/\A\S+?:+\S+/] }

# Keys
rsa = OpenSSL::PKey::RSA.new(1024)
p rsa.n.num_bits, rsa.e.to_i, rsa.private?, rsa.public_key.private?, OpenSSL::PKey::RSA.new(rsa.to_pem).to_der == rsa.to_der, OpenSSL::PKey.read(rsa.public_to_der).n == rsa.n
signature = rsa.sign("SHA256", "text")
p rsa.verify("SHA256", signature, "text"), rsa.verify("SHA256", signature, "other"), rsa.private_decrypt(rsa.public_encrypt("secret")), rsa.public_decrypt(rsa.private_encrypt("x"))
p rsa.private_decrypt(rsa.public_encrypt("oaep", 4), 4), rsa.verify_pss("SHA256", rsa.sign_pss("SHA256", "t", salt_length: :max, mgf1_hash: "SHA1"), "t", salt_length: :auto, mgf1_hash: "SHA1")
pem = rsa.to_pem(OpenSSL::Cipher.new("aes-128-cbc"), "password")
p pem[/DEK-Info: [^,]+/], OpenSSL::PKey::RSA.new(pem, "password").n == rsa.n, OpenSSL::PKey.read(rsa.private_to_pem("aes-256-cbc", "pw"), "pw").n == rsa.n
p [try { OpenSSL::PKey.read(pem, "wrong") }, try { OpenSSL::PKey.read("nothing") }, try { OpenSSL::PKey::EC.new(rsa.to_pem) }].map { |s| s[/\AOpenSSL::PKey::/] }

ec = OpenSSL::PKey::EC.generate("prime256v1")
p ec.group.curve_name, ec.group.degree, ec.private_key.class, ec.public_key.on_curve?, ec.dsa_verify_asn1("digest", ec.dsa_sign_asn1("digest")), ec.verify("SHA256", ec.sign("SHA256", "x"), "x")
other = OpenSSL::PKey::EC.generate("prime256v1")
p ec.dh_compute_key(other.public_key) == other.dh_compute_key(ec.public_key), ec.derive(other) == other.derive(ec)
group = OpenSSL::PKey::EC::Group.new("secp384r1")
point = group.generator.mul(5)
p point == group.generator.add(group.generator.mul(4)), point.to_octet_string(:compressed).unpack1("H*"), OpenSSL::PKey::EC::Point.new(group, point.to_bn).infinity?, group.order.to_s(16)
p OpenSSL::PKey::EC.builtin_curves.size > 10, OpenSSL::PKey::EC.new(ec.to_pem).private_key == ec.private_key

[["ED25519", "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"]].each do |name, seed|
  key = OpenSSL::PKey.generate_key(name)
  p key.oid, key.verify(nil, key.sign(nil, "m"), "m"), OpenSSL::PKey.read(key.private_to_der).public_to_pem == key.public_to_pem
end
one, two = 2.times.map { OpenSSL::PKey.generate_key("X25519") }
p one.derive(two) == two.derive(one), one.derive(two).bytesize
dh = OpenSSL::PKey::DH.new(<<~PEM)
  -----BEGIN DH PARAMETERS-----
  MIIBCAKCAQEA//////////+t+FRYortKmq/cViAnPTzx2LnFg84tNpWp4TZBFGQz
  +8yTnc4kmz75fS/jY2MMddj2gbICrsRhetPfHtXV/WVhJDP1H18GbtCFY2VVPe0a
  87VXE15/V8k1mE8McODmi3fipona8+/och3xWKE2rec1MKzKT0g6eXq8CrGCsyT7
  YdEIqUuyyOP7uWrat2DX9GgdT0Kj3jlN9K5W7edjcrsZCwenyO4KbXCeAvzhzffi
  7MA0BM0oNC9hkXL+nOmFg/+OTxIy7vKBg8P+OxtMb61zO7X8vC7CIAXFjvGDfRaD
  ssbzSibBsu/6iGtCOGEoXJf//////////wIBAg==
  -----END DH PARAMETERS-----
PEM
x, y = 2.times.map { OpenSSL::PKey.generate_key(dh) }
p dh.p.num_bits, dh.g.to_i, x.compute_key(y.pub_key) == y.compute_key(x.pub_key)

# Certificates
name = OpenSSL::X509::Name.parse("/C=DE/O=Zakuro, Inc./CN=test é")
p name.to_s, name.to_a.map { |e| e.map { |v| v.is_a?(String) ? v.b : v } }, name.to_s(OpenSSL::X509::Name::RFC2253), name.to_utf8, name.hash, name.cmp(OpenSSL::X509::Name.new([["CN", "a"]])) != 0
p OpenSSL::X509::Name.parse_rfc2253('CN=a\, b,DC=x,O="q, r"').to_a.map { |e| e.first(2) }, name == OpenSSL::X509::Name.new(name.to_der), name.eql?(name.dup)
def issue(subject, key, issuer, issuer_key, serial, ca: false, extensions: {})
  cert = OpenSSL::X509::Certificate.new
  cert.version, cert.serial, cert.subject, cert.issuer, cert.public_key = 2, serial, subject, (issuer || cert).subject, key
  cert.issuer = (issuer || cert).subject
  cert.not_before, cert.not_after = Time.utc(2020, 1, 1), Time.utc(2060, 1, 1)
  factory = OpenSSL::X509::ExtensionFactory.new(issuer || cert, cert)
  cert.add_extension(factory.create_extension("basicConstraints", "CA:#{ca.to_s.upcase}", true))
  extensions.each { |oid, value| cert.add_extension(factory.create_extension(oid, value)) }
  cert.sign(issuer_key || key, OpenSSL::Digest.new("SHA256"))
end
root = issue(name, rsa, nil, nil, 1, ca: true, extensions: { "subjectKeyIdentifier" => "hash", "keyUsage" => "keyCertSign, cRLSign" })
leaf = issue(OpenSSL::X509::Name.parse("/CN=leaf"), ec, root, rsa, 2**70, extensions: {
  "subjectAltName" => "DNS:example.org, IP:127.0.0.1, URI:https://example.org/", "extendedKeyUsage" => "serverAuth", "authorityInfoAccess" => "OCSP;URI:http://ocsp.example/",
  "crlDistributionPoints" => "URI:http://crl.example/", "authorityKeyIdentifier" => "keyid"
})
p leaf.serial.to_s, leaf.subject.to_s, leaf.issuer.to_s == name.to_s, leaf.not_before, leaf.not_after, leaf.version, leaf.verify(rsa), try { leaf.verify(ec) }[/OpenSSL::X509::CertificateError/], leaf.check_private_key(ec), leaf.check_private_key(rsa)
leaf.extensions.each { |e| p [e.oid, e.value.gsub(/\h\h(:\h\h)+/, "HEX"), e.critical?] }
p leaf.ocsp_uris, leaf.crl_uris, leaf.authority_key_identifier == root.subject_key_identifier, OpenSSL::X509::Certificate.new(leaf.to_pem) == leaf, leaf.signature_algorithm, leaf.public_key.class
p OpenSSL::X509::Certificate.load(root.to_pem + leaf.to_pem).map { |c| c.subject.to_s }, leaf.to_text[/Subject: .*/]
p try { OpenSSL::X509::Certificate.new("no") }[/\AOpenSSL::X509::CertificateError/]

request = OpenSSL::X509::Request.new
request.version, request.subject, request.public_key = 0, OpenSSL::X509::Name.parse("/CN=wish"), ec
request.add_attribute(OpenSSL::X509::Attribute.new("extReq", OpenSSL::ASN1::Set([OpenSSL::ASN1::Sequence([OpenSSL::X509::ExtensionFactory.new.create_extension("keyUsage", "digitalSignature")])])))
request.sign(ec, "SHA256")
p request.verify(ec), request.subject.to_s, request.attributes.map(&:oid), OpenSSL::X509::Request.new(request.to_pem).to_der == request.to_der

crl = OpenSSL::X509::CRL.new
crl.version, crl.issuer, crl.last_update, crl.next_update = 1, root.subject, Time.utc(2021), Time.utc(2059)
revoked = OpenSSL::X509::Revoked.new
revoked.serial, revoked.time = leaf.serial, Time.utc(2022, 2, 2)
revoked.add_extension(OpenSSL::X509::Extension.new("CRLReason", OpenSSL::ASN1::Enumerated(1)))
crl.add_revoked(revoked)
crl.add_extension(OpenSSL::X509::Extension.new("crlNumber", OpenSSL::ASN1::Integer(5)))
crl.sign(rsa, OpenSSL::Digest.new("SHA256"))
p crl.verify(rsa), crl.issuer.to_s == name.to_s, crl.revoked.map { |r| [r.serial == leaf.serial, r.time, r.extensions.map(&:value)] }, crl.last_update, crl.extensions.map(&:oid)

# Whom to trust
store = OpenSSL::X509::Store.new
p store.verify(leaf), store.error, store.error_string
store.add_cert(root)
p store.verify(leaf), store.chain.map { |c| c.subject.to_s.b }, store.error
seen = []
p store.verify(leaf) { |ok, context| seen << [ok, context.error, context.error_depth, context.current_cert.subject.to_s.b]; true }, seen
store.add_crl(crl)
store.flags = OpenSSL::X509::V_FLAG_CRL_CHECK
p store.verify(leaf), store.error_string
p store.verify(leaf) { |ok, context| ok || context.error == OpenSSL::X509::V_ERR_CERT_REVOKED }
late = OpenSSL::X509::Store.new
late.add_cert(root)
late.time = Time.utc(2061)
p late.verify(leaf), late.error_string, late.verify(leaf) { |ok, c| c.error = 0 unless ok; true }

# Containers
p12 = OpenSSL::PKCS12.create("pass", "friend", ec, leaf, [root])
back = OpenSSL::PKCS12.new(p12.to_der, "pass")
p back.key.private_key == ec.private_key, back.certificate == leaf, back.ca_certs == [root], try { OpenSSL::PKCS12.new(p12.to_der, "wrong") }
signer = issue(OpenSSL::X509::Name.parse("/CN=signer"), rsa, nil, nil, 9)
trust = OpenSSL::X509::Store.new.tap { |s| s.add_cert(signer) }
signed = OpenSSL::PKCS7.new(OpenSSL::PKCS7.sign(signer, rsa, "the data", [], OpenSSL::PKCS7::BINARY).to_pem)
p signed.type, signed.verify([signer], trust), signed.data, signed.signers.map { |s| s.serial.to_i }, signed.certificates == [signer]
detached = OpenSSL::PKCS7.sign(signer, rsa, "the data", [], OpenSSL::PKCS7::DETACHED | OpenSSL::PKCS7::BINARY)
p detached.verify([signer], trust, "the data"), detached.verify([signer], trust, "other data")
p OpenSSL::PKCS7.encrypt([signer], "hidden", "aes-128-cbc", OpenSSL::PKCS7::BINARY).decrypt(rsa, signer)
p OpenSSL::KDF.scrypt("password", salt: "NaCl", N: 1024, r: 8, p: 16, length: 64).unpack1("H*"), OpenSSL::Digest.new("SHA3-256").hexdigest("x"), OpenSSL::Digest.new("BLAKE2b512").digest_length
c = OpenSSL::Cipher.new("chacha20-poly1305").encrypt
c.key, c.iv, c.auth_data = "k" * 32, "n" * 12, "ad"
p (c.update("text") + c.final).unpack1("H*"), c.auth_tag.unpack1("H*")
