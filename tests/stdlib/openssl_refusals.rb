# What OpenSSL's classes refuse, and how; bits that do not count; extensions by numbers; names that libraries use.
require "openssl"
require "net/http"
include OpenSSL

def told
  yield
rescue => e
  "#{e.class}: #{e.message}"
end
rsa, ec = PKey::RSA.new(2048), PKey::EC.generate("prime256v1")
public_keys = [PKey.read(rsa.public_to_der), PKey.read(ec.public_to_der)]
cert = X509::Certificate.new
cert.public_key = rsa
cert.subject = cert.issuer = X509::Name.parse("/CN=a")
cert.not_before = cert.not_after = Time.at(0)
public_keys.each do |key|
  p told { key.sign("SHA256", "data") }, told { cert.sign(key, "SHA256") }, told { cert.check_private_key(key) }, told { X509::Request.new.sign(key, "SHA256") }
  p told { X509::CRL.new.sign(key, "SHA256") }, told { Netscape::SPKI.new.sign(key, "SHA256") }, told { PKCS7.sign(cert, key, "a") }
  p told { PKCS7::SignerInfo.new(cert, key, "SHA256") }, told { PKCS7.new.decrypt(key, cert) }, told { SSL::SSLContext.new.add_certificate(cert, key) }
  p told { SSL::SSLContext.new.tap { |context| context.cert, context.key = cert, key }.setup }
end
p told { public_keys[0].sign_pss("SHA256", "a", salt_length: :max, mgf1_hash: "SHA256") }, told { public_keys[1].dsa_sign_asn1("a" * 32) }
p told { PKey::EC.new("nope") }, told { PKey::EC.generate("nope") }, told { PKey::EC.new("") }, told { PKey::RSA.new("nope") }, told { PKey::DSA.new("nope") }, told { PKey::DH.new("nope") }
p told { PKey::RSA.new(ec.to_pem) }, told { PKey::DSA.new(ec.to_pem) }, told { PKey::EC.new(rsa.to_pem) }, told { PKey::EC.new("prime256v1").group.curve_name }

p [["\xff", 3], ["\xff\xff", 7], ["", 3], ["\xff", 8], ["\xff", -1], ["abc", 0]].map { |text, unused| told { ASN1::BitString(text).tap { |bits| bits.unused_bits = unused }.to_der } }
p ASN1.decode("\x03\x02\x03\xff").to_der, ASN1.decode("\x03\x01\x03").to_der, ASN1::EndOfContent.superclass, ASN1::EndOfContent.new.to_der, ASN1::CHARACTER_STRING
p ASN1::UNIVERSAL_TAG_NAME.each_with_index.reject { |name, _| name }.map(&:last)

factory = X509::ExtensionFactory.new
p factory.create_extension("1.2.3.4.5", "DER:0403616263", true).to_a, factory.create_ext("1.2.3", "ASN1:UTF8String:hi").value_der
p factory.create_extension("1.2.3.4.5=critical,DER:0403616263").to_a, factory.create_extension("1.2.3.4.5 = critical,DER:0403616263").to_s
p factory.create_extension("oid" => "1.2.3", "value" => "DER:0500", "critical" => true).to_h, factory.create_ext_from_array(["1.2.3", "DER:0500"]).to_a
p factory.create_extension("1.2.840.113549.1.9.1", "DER:0101ff").to_a, factory.create_extension("subjectKeyIdentifier", "DER:0403616263").value
p told { factory.create_extension("1.2.3", "x") }, told { factory.create_extension("1.2.3", "DER:zz") }, told { factory.create_extension("nope", "DER:0500") }
p told { factory.create_extension("nope", "x") }, told { factory.create_extension("99.2.3", "DER:0500") }, told { factory.create_ext_from_hash({}) }
p told { factory.crl = 1 }, told { X509::ExtensionFactory.new(1) }, factory.issuer_certificate, X509::ExtensionFactory.new(cert).issuer_certificate.equal?(cert)

context = SSL::SSLContext.new
context.ssl_timeout = 7
p context.timeout, context.ssl_timeout
p SSL::SSLContext.new.inspect.sub(/0x\h+/, ""), SSL::SSLContext.new(:TLSv1_2).tap(&:ciphers).inspect.sub(/0x\h+/, ""), SSL::SSLContext.new.instance_variables
p X509::Store.new.inspect.sub(/0x\h+/, ""), X509::Store.new.tap(&:set_default_paths).instance_variables.sort
p [X509::Request.new, X509::CRL.new, X509::Revoked.new, PKCS7.new, Netscape::SPKI.new, Cipher.new("AES-128-CBC")].map { |object| [object.inspect.sub(/0x\h+/, ""), object.instance_variables] }
p [rsa, cert, HMAC.new("a", "SHA1"), OpenSSL::Digest.new("SHA1"), 7.to_bn, OpenSSL::Config.new, cert.subject].map(&:instance_variables)
http = Net::HTTP.new("localhost", 1)
http.use_ssl, http.ssl_timeout, http.open_timeout = true, 5, 1
p told { http.start }[/\A\w+::\w+/]

store = X509::Store.new
store.flags = X509::V_FLAG_CRL_CHECK
check = X509::StoreContext.new(store, cert)
$VERBOSE = nil
p check.flags, (check.flags = X509::V_FLAG_PARTIAL_CHAIN), check.flags, check.clear_flags(X509::V_FLAG_CRL_CHECK), check.flags, check.clear_flags, check.flags, told { check.flags = "a" }
p X509::V_ERR_INVALID_CA, X509::V_FLAG_USE_CHECK_TIME
signed = PKCS7.new
p told { signed.detached = true }, signed.detached
signed.type = :signed
p signed.detached, (signed.detached = true), signed.detached?, told { signed.detached = 1 }
signed.type = :enveloped
p signed.detached, told { signed.detached = true }

m = (1 << 2048) - 1942289
numbers = [3.to_bn.mod_exp(1 << 2000, m), (-3).to_bn.mod_exp((1 << 100) + 1, m), 3.to_bn.mod_exp(5, 7), 3.to_bn.mod_exp(0, 1), (1 << 3000).to_bn.mod_exp(1 << 200, m + 1), 5.to_bn.mod_exp(1 << 9, (1 << 5000) + 1)]
p numbers.map { |n| [n.num_bits, n.to_i % 1_000_003] }
secret = 3.to_bn
secret.set_flags(BN::CONSTTIME)
p secret.mod_exp((1 << 300) + 7, m).to_i % 1_000_003, told { secret.mod_exp(5, 8) }[/\A[\w:]+/]
p told { 3.to_bn.mod_exp(5, 0) }[/\A[\w:]+/]

module Inner
  extend OpenSSL::ASN1, OpenSSL::SSL, OpenSSL::PKey, OpenSSL::Random
  p Sequence([Integer(5)]).to_der, decode("\x02\x01\x05").value.to_i, verify_hostname("a.b.c", "*.b.c"), generate_key("ED25519").oid, random_bytes(3).bytesize
rescue NoMethodError
  p $!.message
end
module Outer
  include OpenSSL::ASN1
  def self.make = Object.new.extend(self).instance_eval { Sequence([Integer(5)]).to_der }
end
p Outer.make, Object.new.extend(Outer).respond_to?(:decode)

objects = [7.to_bn, OpenSSL::Digest.new("SHA1"), HMAC.new("a", "SHA1"), Cipher.new("AES-128-CBC"), PKey.generate_key("ED25519"), ec.group, X509::Store.new, X509::Revoked.new, SSL::SSLContext.new, OpenSSL::Config.new,
           Netscape::SPKI.new, Timestamp::Request.new, OCSP::Request.new]
p objects.map { |object| told { Marshal.dump(object) } }
p [rsa, ec, cert.subject].map { |object| told { Marshal.load(Marshal.dump(object)).class } }
p told { SSL::SSLContext.new.max_version = :SSL2 }[/\A[\w:]+/], told { SSL::SSLContext.new.max_version = :nope }
