# OpenSSL::Provider: what a VM loads, it has alone.
require "openssl"

def told
  yield
rescue => e
  "#{e.class}: #{e.message[/\A[^:(]*/].strip}"
end
def round
  cipher = OpenSSL::Cipher.new("RC4").encrypt
  cipher.key = "k" * 16
  cipher.update("data").unpack1("H*")
end
Provider = OpenSSL::Provider
p Provider.provider_names, told { round }
# With RC2 of 40 bits, as old files are encrypted.
p told { OpenSSL::PKCS12.new(DATA.read.unpack1("m"), "secret") }
DATA.rewind
DATA.gets until $_ == "__END__\n"
elsewhere = Ractor.new { Ractor.receive; [OpenSSL::Provider.provider_names, (round rescue $!.class)] }
legacy = Provider.load("legacy")
p legacy.name, legacy, Provider.provider_names.sort, round, OpenSSL::Digest.new("MD4").update("a").hexdigest
kept = OpenSSL::Cipher.new("RC4").encrypt
elsewhere.send(nil)
p elsewhere.value
opened = OpenSSL::PKCS12.new(DATA.read.unpack1("m"), "secret")
p opened.certificate.serial.to_i, opened.certificate.check_private_key(opened.key), opened.key.sign("SHA256", "a").bytesize > 60
p legacy.unload, legacy, told { legacy.name }, told { legacy.unload }, Provider.provider_names
kept.key = "k" * 16
p kept.update("data").unpack1("H*"), OpenSSL::Digest.new("SHA256").digest_length
p told { Provider.load("nope") }, told { Provider.load("/tmp/any.so") }, told { Provider.load(1) }, told { Provider.load("a\0") }, told { Provider.new }, told { legacy.dup }
null = Provider.load("null")
p Provider.provider_names.sort
p null.unload, Provider.provider_names
__END__
MIIDOgIBAzCCAvQGCSqGSIb3DQEHAaCCAuUEggLhMIIC3TCCAb4GCSqGSIb3
DQEHBqCCAa8wggGrAgEAMIIBpAYJKoZIhvcNAQcBMBsGCiqGSIb3DQEMAQYw
DQQIepmwcZtGLxECAQGAggF4TzwELRQBUrT3v8qnndqK9izQffXq/uXpS7RJ
KPx+EYtRAH0pmtxWByEAMkaaiq79V3i/UiCI4h8W4WVuARTPztlmrHZXOU3u
niHdtHU0bfDwMKXCphkV5rGc061kUMW/0kJJsfvWb9DtI7hmuiXbdCgGmUF0
OzIgReIt/sWYYwUyREO3UixWFa7TI0fe6434HSBPynXCSNqTLAtgOuboqu1o
qi52JmFjRtlx6MWKlgEApgiY5sT/KmGp4x1v3Zop7D27B1sxHBv3qeu0DAbP
y+hZxB9jMLWdLQoCzfQfmj+PuFpcgIJM2qiUVvb99ZRXAgxor+9+N0x80rpi
zqiONIKN42fm2esP1Vawyt2804gxvr/2ADJyda4I425uCGnAHDhvj5U6b2Ks
9zM1l6OE67tVFNOLntiJNZNq1KOGfQG/wdXIIR9s1sHJiD1qIBqep4XkuP4F
wN+ZoI2WJgmrSDwhI+O7WvPajzkigM2GiGMiUAmbrecz+jCCARcGCSqGSIb3
DQEHAaCCAQgEggEEMIIBADCB/QYLKoZIhvcNAQwKAQKggbMwgbAwGwYKKoZI
hvcNAQwBBjANBAizUe6MCi1HFAIBAQSBkA1eOdLfYzpdmZjEnkLOT+9e53Vt
o1W3jhsaY1hDYGYqvBtjf8PvOwxaA3iFnazAWxzJJgQfCuur90v3W6qq3+8O
5sIiX7RRl/1beEocifQZRsJ928oLXQPyNHPP174VCA2iCy7jz/j1y7xPaA/q
QJUjoMTTQA80heNOEOK4snPjP8KmHIdgFIPMnO/o725LyjE4MBEGCSqGSIb3
DQEJFDEEHgIAbjAjBgkqhkiG9w0BCRUxFgQUFXLdt8mpINAbZgNAnwuh3J6X
2VEwPTAxMA0GCWCGSAFlAwQCAQUABCDhR4snoOk0K7O8BX0vXaVgte5ex49I
5t6VQuzAUiBz4AQIM3y/0G+cPjA=
