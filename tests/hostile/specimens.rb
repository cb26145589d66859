# Receivers: for every builtin class one or more ways to make one, and for each class without any the reason.
# `s` is the stage. What is said of a class holds for those below it, unless they say something themselves.

SpecimenStruct = Struct.new(:a, :b, :c)
SpecimenData = Data.define(:x, :y)
class SpecimenObject
  include Comparable
  include Enumerable
  def initialize(stage) = (@stage = stage; @list = [1, 2])
  attr_reader :stage
  def <=>(other) = (stage.strike; stage.dice.pick([0, 1, -1, nil]))
  def each = block_given? ? 5.times { |i| stage.strike; yield(stage.dice.once_in(3) ? stage.hostile("all") : i) } : to_enum
  def each_entry = super
end
module SpecimenModule
  def helper = 1
  LIMIT = 3
end

# Made lazily, in the VM that needs it.
def specimen_file
  File.write("a", "first line\nsecond, line\n\u3042third\n" * 20) unless File.exist?("a")
  File.open("a", "r+")
end

def specimen_raised(&block)
  block.call
rescue Exception => e
  e
end

def specimen_ec
  curve = OpenSSL::PKey::EC::Group.new("prime256v1")
  secret = OpenSSL::BN.new(2**200 + 12_345)
  public_part = OpenSSL::ASN1::BitString(curve.generator.mul(secret).to_octet_string(:uncompressed), 1, :EXPLICIT)
  parts = [OpenSSL::ASN1::Integer(1), OpenSSL::ASN1::OctetString(secret.to_s(2).rjust(32, "\0")), OpenSSL::ASN1::ObjectId("prime256v1", 0, :EXPLICIT), public_part]
  OpenSSL::PKey::EC.new(OpenSSL::ASN1::Sequence(parts).to_der)
end

def specimen_certificate
  OpenSSL::X509::Certificate.new.tap do |cert|
    cert.version, cert.serial, cert.public_key = 2, 1, specimen_ec
    cert.not_before, cert.not_after = Time.utc(2020), Time.utc(2040)
    cert.subject = cert.issuer = OpenSSL::X509::Name.parse("/CN=x")
    cert.sign(specimen_ec, "SHA256")
  end
end

def specimen_pipe(s)
  r, w = IO.pipe
  w << "some text\nmore\n"
  s.reach(w)
  r
end

def specimen_sockets(s)
  require "socket"
  a, b = UNIXSocket.pair
  b << "text\n"
  s.reach(b)
  a
end

def specimen_ocsp_id = OpenSSL::OCSP::CertificateId.new(specimen_certificate, specimen_certificate)

def specimen_answer
  OpenSSL::OCSP::BasicResponse.new.tap do |answer|
    answer.add_status(specimen_ocsp_id, 1, 0, -5, 0, 60, [OpenSSL::X509::Extension.new("1.2.3", "\x04\x01a")])
    answer.sign(specimen_certificate, specimen_ec, [])
  end
end

def specimen_stamp_request
  OpenSSL::Timestamp::Request.new.tap do |request|
    request.algorithm, request.message_imprint, request.policy_id, request.nonce = "SHA256", "a" * 32, "1.2.3", 7
  end
end

def specimen_stamp
  factory = OpenSSL::X509::ExtensionFactory.new
  cert = specimen_certificate
  cert.add_extension(factory.create_extension("extendedKeyUsage", "timeStamping", true))
  cert.sign(specimen_ec, "SHA256")
  specimen_authority.create_timestamp(specimen_ec, cert, specimen_stamp_request)
end

def specimen_authority
  OpenSSL::Timestamp::Factory.new.tap { |f| f.gen_time, f.serial_number, f.allowed_digests = Time.utc(2030), 1, ["SHA256"] }
end

SPECIMENS = {
  "BasicObject" => ->(s) { s.dice.once_in(2) ? BasicObject.new : s.hostile("all") },
  "Object" => ->(s) { s.dice.pick([s.hostile("all"), SpecimenObject.new(s), Object.new, s.hostile]) },
  "Kernel" => ->(s) { s.dice.pick([s.hostile("all"), SpecimenObject.new(s), Object.new, s.own, [1], +"text"]) },
  "Comparable" => ->(s) { s.dice.once_in(2) ? SpecimenObject.new(s) : s.hostile("ranked") },
  "Enumerable" => ->(s) { s.dice.pick([SpecimenObject.new(s), s.hostile("each"), Struct.new(:a).new(s.hostile), (1..3), Set.new([1, s.hostile("key")]), specimen_file]) },
  "Array" => ->(s) {
    s.dice.pick([-> { [] }, -> { [1, 2, 3] }, -> { [s.hostile("all"), 1, "b", s.hostile] }, -> { (0..60).to_a }, -> { [[1, 2], [s.hostile("all"), s.hostile]] }, -> { %w[b c a b] },
                 -> { [s.hostile("order"), s.hostile("order"), s.hostile("order")] }, -> { [s.hostile("key"), s.hostile("key"), s.hostile("key")] + (0..20).to_a },
                 -> { s.own("Array") }, -> { a = [1, s.hostile("all")]; a << a }, -> { [s.own("String"), s.hostile("text"), "x", [s.hostile("list")]] }, -> { (0..60).to_a.drop(2) }, -> { [0.5, 2, 3r, s.own("Numeric")] },
                 -> { [["k", s.hostile("key")], [s.hostile("key"), 2]] }, -> { [s.hostile("list"), [3], s.hostile("list")] }]).call
  },
  "Hash" => ->(s) {
    s.dice.pick([-> { {} }, -> { { a: 1, "b" => 2, 3 => [4] } }, -> { { s.hostile("key") => 1, s.hostile("key") => s.hostile("all"), "a" => 2 } }, -> { (0..40).to_h { |i| [i, "v#{i}"] } }, -> { s.own("Hash") },
                 -> { Hash.new { |h, k| s.strike; h[k] = 1 } }, -> { { 1 => s.hostile("order"), 2 => s.hostile("order"), s.hostile("all") => s.hostile("list") } }, -> { { s.hostile("key") => 1 }.compare_by_identity }]).call
  },
  "String" => ->(s) {
    s.dice.pick([-> { +"" }, -> { +"abc" }, -> { "text and more " * 40 }, -> { "\u3042\u3044 b\u00e9 " * 30 }, -> { "\xff\xfe\x80ab".dup }, -> { s.own("String") }, -> { ("a,b;c\n" * 200) }, -> { ("x" * 3000)[5..] }, -> { +"%s-%d %p %05.2f" },
                 -> { "a\u3042".encode("UTF-16LE") }, -> { +"Zz9" }, -> { "abc\n" * 3 }, -> { ("\u3042" * 20).b }, -> { +"C*a3N" }]).call
  },
  "Symbol" => ->(s) { s.dice.pick([:a, :+, :upcase, :"with space", :"\u3042"]) },
  "Integer" => ->(s) { s.number },
  "Float" => ->(s) { s.dice.pick([0.0, 1.5, -2.25, Float::NAN, Float::INFINITY, 1e300, 5e-324]) },
  "Rational" => ->(s) { s.dice.pick([1/3r, -7/2r, Rational(2**70, 3)]) },
  "Complex" => ->(s) { s.dice.pick([1i, Complex(1, 2.5), Complex(1/3r, 2**70), Complex(s.own("Numeric"), 1)]) },
  "Numeric" => ->(s) { s.dice.once_in(3) ? s.number : s.own("Numeric") },
  "NilClass" => ->(s) { nil },
  "TrueClass" => ->(s) { true },
  "FalseClass" => ->(s) { false },
  "Range" => ->(s) {
    s.dice.pick([-> { 1..5 }, -> { "a".."f" }, -> { s.hostile("ranked")..s.hostile("ranked") }, -> { 1.. }, -> { nil..3 }, -> { 1.0..2.5 }, -> { s.own("Range") }, -> { Range.new(s.own("Numeric"), s.own("Numeric")) }, -> { Time.at(0)..Time.at(9) },
                 -> { s.own("String").."z" }, -> { 2**64..2**64 + 9 }]).call
  },
  "Proc" => ->(s) { s.dice.pick([-> { proc { |a, *b, k: 1| s.strike; a } }, -> { lambda { |a, b = 1| s.strike; a } }, -> { :upcase.to_proc }, -> { s.own("Proc") }, -> { [1].method(:push).to_proc }]).call },
  "Method" => ->(s) { s.dice.pick([-> { s.reach([3, 1]).method(:push) }, -> { s.reach(+"a").method(:sub) }, -> { SpecimenObject.new(s).method(:each) }, -> { s.hostile("all").method(:to_str) }]).call },
  "UnboundMethod" => ->(s) { s.dice.pick([Array.instance_method(:push), SpecimenObject.instance_method(:each), Kernel.instance_method(:then), String.instance_method(:sub)]) },
  "Binding" => ->(s) { x = s.list; binding },
  "Module" => ->(s) { s.dice.pick([SpecimenModule, SpecimenObject, Module.new, Class.new(Array), SpecimenObject.singleton_class]) },
  "Class" => ->(s) { s.dice.pick([SpecimenObject, SpecimenStruct, Class.new(String), Class.new, Class.new(Hash) { def self.inherited(c) = 1 }]) },
  "Refinement" => ->(s) { m = nil; Module.new { m = refine(String) { def shout = upcase } }; m },
  "Struct" => ->(s) { s.dice.pick([-> { SpecimenStruct.new(1, "b", s.hostile("all")) }, -> { Struct.new(:k, keyword_init: true).new(k: s.hostile("key")) }, -> { SpecimenStruct.new(s.hostile("key"), s.list, s.hostile("order")) }]).call },
  "Data" => ->(s) { s.dice.once_in(2) ? SpecimenData.new(1, s.hostile("all")) : SpecimenData.new(x: s.hostile("key"), y: s.list) },
  "Set" => ->(s) { s.dice.pick([-> { Set.new }, -> { Set.new([1, "b", :c]) }, -> { Set.new([s.hostile("key"), s.hostile("key"), 3]) }, -> { Set.new(0..50) }, -> { s.own("Set") }, -> { Set.new([Set.new([1]), Set.new([s.hostile("key")])]) }]).call },
  "Regexp" => ->(s) { s.dice.pick([-> { /a(b)?/ }, -> { /(?<n>\w+)/ }, -> { s.own("Regexp") }, -> { /[[:alpha:]]\u3042?/ }]).call },
  "MatchData" => ->(s) { s.dice.pick([-> { /(?<x>a)(?<y>b)?/.match(+"xxab") }, -> { /(\w)(\w)/.match(s.reach("text \u3042" * 20)) }]).call },
  "Exception" => ->(s) { s.dice.pick([-> { specimen_raised { raise "x" } }, -> { Boom.new(s.hostile("all")) }, -> { specimen_raised { raise Boom, s.hostile("text") } }, -> { s.own("StandardError") }, -> { specimen_raised { nil.foo } }]).call },
  "FrozenError" => ->(s) { s.dice.once_in(2) ? FrozenError.new(s.text, receiver: s.hostile) : specimen_raised { "a".freeze << "b" } },
  "KeyError" => ->(s) { s.dice.once_in(2) ? specimen_raised { { s.hostile("key") => 1 }.fetch(:b) } : KeyError.new("a", receiver: s.table, key: s.hostile("all")) },
  "NameError" => ->(s) { specimen_raised { SpecimenObject.new(s).instance_eval { unknown_name } } },
  "NoMethodError" => ->(s) { specimen_raised { s.hostile("all").unknown_name(1) } },
  "NoMatchingPatternKeyError" => ->(s) { specimen_raised { { a: s.hostile("key") } => { b: } } },
  "StopIteration" => ->(s) { specimen_raised { [].each.next } },
  "LocalJumpError" => ->(s) { LocalJumpError.new(s.text) },
  "SystemExit" => ->(s) { SystemExit.new(3, "end") },
  "SystemCallError" => ->(s) { s.dice.once_in(2) ? Errno::ENOENT.new(s.text) : SystemCallError.new(s.text, 2) },
  "SignalException" => ->(s) { SignalException.new("INT") },
  "Interrupt" => ->(s) { Interrupt.new("x") },
  "UncaughtThrowError" => ->(s) { specimen_raised { throw s.hostile("all") } },
  "SyntaxError" => ->(s) { specimen_raised { eval("1 +* ", nil, "a") } },
  "LoadError" => ->(s) { specimen_raised { require "no/such" } },
  "ArgumentError" => ->(s) { specimen_raised { [].first(1, 2) } },
  "TypeError" => ->(s) { specimen_raised { [1] + 1 } },
  "Encoding" => ->(s) { s.dice.pick([Encoding::UTF_8, Encoding::SHIFT_JIS]) },
  "Encoding::Converter" => ->(s) { s.dice.pick([Encoding::Converter.new("UTF-8", "EUC-JP"), Encoding::Converter.new("UTF-16LE", "UTF-8", universal_newline: true)]) },
  "Encoding::InvalidByteSequenceError" => ->(s) { specimen_raised { "\xff".encode("UTF-16LE", "UTF-8") } },
  "Encoding::UndefinedConversionError" => ->(s) { specimen_raised { "\u3042".encode("US-ASCII") } },
  "Enumerator" => ->(s) { s.dice.pick([-> { s.reach([1, 2, 3]).each }, -> { Enumerator.new { |y| s.strike; y << 1; y.yield(2, 3); s.hostile("all") } }, -> { s.hostile("each").to_enum }, -> { "abc".each_char }, -> { e = [1, s.hostile("all")].each; e.next; e },
                                       -> { Enumerator.new(-> { s.strike; 3 }) { |y| y << 1 } }]).call },
  "Enumerator::Lazy" => ->(s) { s.dice.pick([-> { (1..4).lazy }, -> { s.hostile("each").lazy.map { |x| s.strike; x } }, -> { s.reach([[1], [2, 3]]).lazy.select { s.strike; true } }, -> { (1..9).lazy.zip(s.list).take(3) }]).call },
  "Enumerator::Chain" => ->(s) { s.reach([1, 2]).each + [s.hostile("all")] + s.hostile("each") },
  "Enumerator::ArithmeticSequence" => ->(s) { s.dice.once_in(2) ? 1.step(9, 2) : ((1.0..3.0) % 0.5) },
  "Enumerator::Product" => ->(s) { Enumerator::Product.new([1, 2], s.hostile("each"), s.list) },
  "Enumerator::Generator" => ->(s) { Enumerator::Generator.new { |y| s.strike; y << 1 } },
  "Enumerator::Producer" => ->(s) { Enumerator.produce(1) { |x| s.strike; x + 1 }.then { |e| ObjectSpace.each_object(Enumerator::Producer).first || e } },
  "Enumerator::Yielder" => ->(s) { y = nil; Enumerator.new { |x| y = x; x << 1 }.first; y },
  "Fiber" => ->(s) { s.dice.pick([-> { Fiber.new { |x| s.strike; Fiber.yield(x); s.hostile("all") } }, -> { f = Fiber.new { Fiber.yield 1 }; f.resume; f }]).call },
  "Thread" => ->(s) { s.dice.pick([-> { Thread.new { s.strike; 1 } }, -> { Thread.new { sleep 0.01 } }, -> { Thread.new { Thread.stop } }, -> { Thread.current }]).call },
  "Thread::Mutex" => ->(s) { s.dice.once_in(2) ? Mutex.new : Mutex.new.tap(&:lock) },
  "Thread::Queue" => ->(s) { Queue.new([1, s.hostile("all")]) },
  "Thread::SizedQueue" => ->(s) { SizedQueue.new(3).tap { |q| q << 1 } },
  "Thread::ConditionVariable" => ->(s) { ConditionVariable.new },
  "Thread::Backtrace::Location" => ->(s) { caller_locations(0).first },
  "ThreadGroup" => ->(s) { ThreadGroup.new },
  "Monitor" => ->(s) { s.dice.once_in(2) ? Monitor.new : Monitor.new.tap(&:enter) },
  "MonitorMixin" => ->(s) { Object.new.extend(MonitorMixin) },
  "MonitorMixin::ConditionVariable" => ->(s) { Monitor.new.tap(&:enter).new_cond },
  "Time" => ->(s) { s.dice.pick([Time.at(0), Time.utc(2024, 2, 29, 1, 2, 3.5r), Time.new(2024, 1, 1, 0, 0, 0, "+09:00"), Time.now]) },
  "Random" => ->(s) { Random.new(3) },
  "Random::Formatter" => ->(s) { s.dice.once_in(2) ? Random.new(3) : s.hostile("all").extend(Random::Formatter) },
  "IO" => ->(s) { s.dice.once_in(2) ? specimen_file : specimen_pipe(s) },
  "File" => ->(s) { specimen_file },
  "File::Stat" => ->(s) { File.stat(".") },
  "Dir" => ->(s) { Dir.new(".") },
  "IO::Buffer" => ->(s) { s.dice.pick([-> { IO::Buffer.new(64) }, -> { IO::Buffer.for(s.reach(+"some text")) }, -> { b = IO::Buffer.new(4096, IO::Buffer::MAPPED); s.reach(b); b.slice(8, 16) }, -> { b = IO::Buffer.new(32); s.reach(b); b.slice(0, 8) }]).call },
  "IO::generic_readable" => ->(s) { StringIO.new(+"a\nb\n") },
  "IO::generic_writable" => ->(s) { StringIO.new },
  "ARGF.class" => ->(s) { ARGV.replace(%w[a a]); specimen_file.close; ARGF },
  "ObjectSpace::WeakMap" => ->(s) { m = ObjectSpace::WeakMap.new; m[s.reach(+"k")] = s.list; m[s.hostile("key")] = 1; m },
  "ObjectSpace::WeakKeyMap" => ->(s) { m = ObjectSpace::WeakKeyMap.new; m[s.hostile("key")] = 1; m[s.reach(+"k")] = 2; m },
  "Process::Status" => ->(s) { Process.wait(Process.spawn("true")); $? },
  "Process::Tms" => ->(s) { Process.times },
  "TracePoint" => ->(s) { TracePoint.new(:call, :c_call) { s.strike } },
  "RubyVM::InstructionSequence" => ->(s) { RubyVM::InstructionSequence.compile("a = 1; a + 2") },
  "RubyVM" => ->(s) { s.dice.pick([-> { RubyVM.fork { 1 } }, -> { RubyVM.current }, -> { RubyVM.new("ruby", "-e", "1") }]).call },
  "RubyVM::Channel" => ->(s) { c = RubyVM::Channel.new; c << [1, "b"]; c },
  "RubyVM::Image" => ->(s) { RubyVM::Image.capture },
  "Ractor" => ->(s) { s.dice.once_in(3) ? Ractor.current : Ractor.new { Ractor.receive } },
  "Ractor::Port" => ->(s) { Ractor::Port.new.tap { |port| port << 1 } },
  "Ractor::RemoteError" => ->(s) { Ractor::RemoteError.new("x") },
  "Ractor::MovedObject" => ->(s) { x = [1]; Ractor::Port.new.send(x, move: true); x },
  # The library.
  "StringIO" => ->(s) { s.dice.pick([-> { StringIO.new(s.reach("line one\nline two\n\u3042\n" * 9)) }, -> { StringIO.new }, -> { StringIO.new(s.reach(+"a\nb"), "r+").tap { |io| io.pos = 2 } }]).call },
  "StringScanner" => ->(s) { StringScanner.new(s.reach("words and 12 numbers \u3042 " * 9)).tap { |x| x.scan(/\w+/) } },
  "Date" => ->(s) { Date.new(2024, 2, 29) },
  "Date::Infinity" => ->(s) { Date::Infinity.new },
  "DateTime" => ->(s) { DateTime.new(2024, 2, 29, 1, 2, 3) },
  "BigDecimal" => ->(s) { s.dice.pick([BigDecimal("1.5"), BigDecimal("-1e30"), BigDecimal("NaN"), BigDecimal("3.14159265358979")]) },
  "JSON::Coder" => ->(s) { JSON::Coder.new { |x| s.strike; x.to_s } },
  "JSON::Ext::Generator::State" => ->(s) { JSON::Ext::Generator::State.new(indent: " ", space: s.text) },
  "JSON::Ext::Parser::Config" => ->(s) { JSON::Ext::Parser::Config.new({ symbolize_names: s.hostile("all"), object_class: s.dice.pick([nil, Hash, s.hostile("all")]) }) },
  "JSON::Ext::Parser" => ->(s) { JSON::Ext::Parser.new(s.reach(+'[1, {"a": "b"}]')) },
  "JSON::Fragment" => ->(s) { JSON::Fragment.new("1") },
  "JSON::GeneratorError" => ->(s) { JSON::GeneratorError.new("x", s.hostile) },
  "JSON::ParserError" => ->(s) { specimen_raised { JSON.parse("[1,") } },
  "JSON::Ext::Generator::GeneratorMethods::Array" => ->(s) { s.dice.pick([[s.hostile("all"), s.hostile("text")], s.own("Array"), [[1], { s.hostile("all") => 1 }]]) },
  "JSON::Ext::Generator::GeneratorMethods::Hash" => ->(s) { s.dice.pick([{ s.hostile("all") => s.hostile("all") }, s.own("Hash"), { a: s.own("Array") }]) },
  "JSON::Ext::Generator::GeneratorMethods::String" => ->(s) { s.own("String") },
  "JSON::Ext::Generator::GeneratorMethods::String::Extend" => ->(s) { String },
  "JSON::Ext::Generator::GeneratorMethods::Object" => ->(s) { s.hostile("all") },
  "JSON::Ext::Generator::GeneratorMethods::Integer" => ->(s) { s.number },
  "JSON::Ext::Generator::GeneratorMethods::Float" => ->(s) { 1.5 },
  "JSON::Ext::Generator::GeneratorMethods::NilClass" => ->(s) { nil },
  "JSON::Ext::Generator::GeneratorMethods::TrueClass" => ->(s) { true },
  "JSON::Ext::Generator::GeneratorMethods::FalseClass" => ->(s) { false },
  "Digest::Base" => ->(s) { Digest::MD5.new },
  "Digest::Class" => ->(s) { Digest::SHA1.new },
  "Digest::Instance" => ->(s) { Digest::SHA256.new },
  "Digest::SHA2" => ->(s) { Digest::SHA2.new(384) },
  "OpenSSL::OCSP::CertificateId" => ->(s) { specimen_ocsp_id },
  "OpenSSL::OCSP::Request" => ->(s) { s.dice.pick([OpenSSL::OCSP::Request.new, OpenSSL::OCSP::Request.new.add_certid(specimen_ocsp_id).sign(specimen_certificate, specimen_ec)]) },
  "OpenSSL::OCSP::BasicResponse" => ->(s) { s.dice.pick([OpenSSL::OCSP::BasicResponse.new, specimen_answer]) },
  "OpenSSL::OCSP::SingleResponse" => ->(s) { specimen_answer.responses[0] },
  "OpenSSL::OCSP::Response" => ->(s) { s.dice.pick([OpenSSL::OCSP::Response.new, OpenSSL::OCSP::Response.create(0, specimen_answer)]) },
  "OpenSSL::Timestamp::Request" => ->(s) { s.dice.pick([OpenSSL::Timestamp::Request.new, specimen_stamp_request]) },
  "OpenSSL::Timestamp::Response" => ->(s) { specimen_stamp },
  "OpenSSL::Timestamp::TokenInfo" => ->(s) { specimen_stamp.token_info },
  "OpenSSL::Timestamp::Factory" => ->(s) { specimen_authority },
  "OpenSSL::Provider" => ->(s) { OpenSSL::Provider.load("null") },
  "OpenSSL::Cipher" => ->(s) { OpenSSL::Cipher.new(s.dice.pick(%w[aes-128-cbc aes-256-gcm aes-128-ctr])).tap { |c| c.encrypt; c.key = "k" * c.key_len; c.iv = "i" * c.iv_len } },
  "OpenSSL::Cipher::AES" => ->(s) { OpenSSL::Cipher::AES.new(128, :CBC) },
  "OpenSSL::Cipher::AES128" => ->(s) { OpenSSL::Cipher::AES128.new },
  "OpenSSL::Cipher::AES192" => ->(s) { OpenSSL::Cipher::AES192.new },
  "OpenSSL::Cipher::AES256" => ->(s) { OpenSSL::Cipher::AES256.new },
  "OpenSSL::Digest" => ->(s) { OpenSSL::Digest.new("SHA256") },
  **%w[MD5 RIPEMD160 SHA1 SHA224 SHA256 SHA384 SHA512].to_h { |name| ["OpenSSL::Digest::#{name}", ->(s) { OpenSSL::Digest.const_get(name).new }] },
  "OpenSSL::Digest::MD4" => ->(s) { OpenSSL::Digest.new("SHA3-256") },
  **%w[BF CAST5 DES IDEA RC2 RC4 RC5].to_h { |name| ["OpenSSL::Cipher::#{name}", ->(s) { OpenSSL::Cipher.new("des-ede3-cbc").tap { |c| c.encrypt.key = "k" * 24 } }] },
  "OpenSSL::OpenSSLError" => ->(s) { specimen_raised { OpenSSL::Digest.new("none") } },
  "OpenSSL::ASN1::ASN1Data" => ->(s) { OpenSSL::ASN1::ASN1Data.new(s.dice.pick(["x", [OpenSSL::ASN1::Null(nil), s.hostile("all")]]), 1, :PRIVATE) },
  "OpenSSL::ASN1::BitString" => ->(s) { OpenSSL::ASN1::BitString(s.text) },
  "OpenSSL::ASN1::Constructive" => ->(s) { OpenSSL::ASN1::Sequence([OpenSSL::ASN1::Integer(s.number), s.hostile("all")]) },
  "OpenSSL::ASN1::EndOfContent" => ->(s) { OpenSSL::ASN1::EndOfContent.new },
  "OpenSSL::ASN1::Null" => ->(s) { OpenSSL::ASN1::Null.new },
  "OpenSSL::ASN1::ObjectId" => ->(s) { OpenSSL::ASN1::ObjectId(s.dice.pick(["CN", "1.2.3", s.hostile("text")])) },
  "OpenSSL::ASN1::Primitive" => ->(s) { OpenSSL::ASN1::Integer(s.hostile("all"), 1, :EXPLICIT) },
  "OpenSSL::BN" => ->(s) { OpenSSL::BN.new(s.dice.pick([0, -5, 2**200 + 1])) },
  "OpenSSL::Config" => ->(s) { OpenSSL::Config.parse("[a]\nb = c\n") },
  "OpenSSL::Netscape::SPKI" => ->(s) { OpenSSL::Netscape::SPKI.new.tap { |x| x.public_key = specimen_ec } },
  "OpenSSL::PKCS12" => ->(s) { OpenSSL::PKCS12.create("p", "n", specimen_ec, specimen_certificate) },
  "OpenSSL::PKCS7" => ->(s) { OpenSSL::PKCS7.sign(specimen_certificate, specimen_ec, "data") },
  "OpenSSL::PKCS7::SignerInfo" => ->(s) { OpenSSL::PKCS7.sign(specimen_certificate, specimen_ec, "data").signers[0] },
  "OpenSSL::PKey::PKey" => ->(s) { OpenSSL::PKey.new_raw_private_key(s.dice.pick(%w[ED25519 X25519]), "k" * 32) },
  "OpenSSL::PKey::RSA" => ->(s) { OpenSSL::PKey::RSA.new(OpenSSL::ASN1::Sequence([OpenSSL::ASN1::Integer(2**511 + 187), OpenSSL::ASN1::Integer(65537)]).to_der) },
  "OpenSSL::PKey::EC" => ->(s) { specimen_ec },
  "OpenSSL::PKey::EC::Group" => ->(s) { specimen_ec.group },
  "OpenSSL::PKey::EC::Point" => ->(s) { specimen_ec.public_key },
  "OpenSSL::X509::Attribute" => ->(s) { OpenSSL::X509::Attribute.new("challengePassword", OpenSSL::ASN1::Set([OpenSSL::ASN1::UTF8String("x")])) },
  "OpenSSL::X509::CRL" => ->(s) { OpenSSL::X509::CRL.new.tap { |c| c.issuer = OpenSSL::X509::Name.parse("/CN=x") } },
  "OpenSSL::X509::Certificate" => ->(s) { s.dice.once_in(2) ? OpenSSL::X509::Certificate.new : specimen_certificate },
  "OpenSSL::X509::Extension" => ->(s) { OpenSSL::X509::ExtensionFactory.new.create_extension("basicConstraints", "CA:TRUE", true) },
  "OpenSSL::X509::ExtensionFactory" => ->(s) { OpenSSL::X509::ExtensionFactory.new(specimen_certificate, specimen_certificate) },
  "OpenSSL::X509::Name" => ->(s) { OpenSSL::X509::Name.parse("/C=DE/CN=x") },
  "OpenSSL::X509::Request" => ->(s) { OpenSSL::X509::Request.new },
  "OpenSSL::X509::Revoked" => ->(s) { OpenSSL::X509::Revoked.new },
  "OpenSSL::X509::Store" => ->(s) { OpenSSL::X509::Store.new.tap { |x| x.add_cert(specimen_certificate) } },
  "OpenSSL::X509::StoreContext" => ->(s) { OpenSSL::X509::StoreContext.new(OpenSSL::X509::Store.new.tap { |x| x.verify_callback = s.hostile("all") }, specimen_certificate) },
  "OpenSSL::SSL::SSLContext" => ->(s) { OpenSSL::SSL::SSLContext.new },
  "OpenSSL::SSL::SSLSocket" => ->(s) { OpenSSL::SSL::SSLSocket.new(s.dice.once_in(2) ? s.hostile("io") : UNIXSocket.pair[0]) },
  "OpenSSL::SSL::SSLServer" => ->(s) { OpenSSL::SSL::SSLServer.new(UNIXSocket.pair[0], OpenSSL::SSL::SSLContext.new) },
  "OpenSSL::HMAC" => ->(s) { OpenSSL::HMAC.new("key", "SHA256") },
  "Pathname" => ->(s) { s.dice.pick([Pathname.new("a"), Pathname.new("d/e/../f"), Pathname.new(".")]) },
  "Zlib::Deflate" => ->(s) { Zlib::Deflate.new },
  "Zlib::Inflate" => ->(s) { Zlib::Inflate.new.tap { |z| z << Zlib.deflate("text" * 200) } },
  "Zlib::ZStream" => ->(s) { Zlib::Deflate.new },
  "Zlib::GzipFile" => ->(s) { Zlib::GzipReader.new(StringIO.new(Zlib.gzip("a\nb\n"))) },
  "Zlib::GzipReader" => ->(s) { Zlib::GzipReader.new(s.reach(StringIO.new(s.reach(Zlib.gzip("line\nanother\n" * 50))))) },
  "Zlib::GzipWriter" => ->(s) { Zlib::GzipWriter.new(s.dice.once_in(2) ? s.hostile("io") : s.reach(StringIO.new)) },
  "Zlib::GzipFile::Error" => ->(s) { Zlib::GzipFile::Error.new("x") },
  "Delegator" => ->(s) { SimpleDelegator.new(s.reach([1, s.hostile("all")])) },
  "SimpleDelegator" => ->(s) { SimpleDelegator.new(s.hostile("all")) },
  "CGI::Escape" => ->(s) { Object.new.extend(CGI::Escape) },
  "CGI::Util" => ->(s) { Object.new.extend(CGI::Util) },
  "Coverage" => ->(s) { Coverage },
  "Psych::Parser" => ->(s) { Psych::Parser.new(s.hostile("all")) },
  "Psych::Emitter" => ->(s) { Psych::Emitter.new(s.dice.once_in(2) ? s.hostile("io") : StringIO.new) },
  "Psych::ClassLoader" => ->(s) { Psych::ClassLoader.new },
  "Psych::Nodes::Node" => ->(s) { Psych.parse("- a: [1, 2]\n- b") },
  "Psych::ScalarScanner" => ->(s) { Psych::ScalarScanner.new(Psych::ClassLoader.new) },
  "Psych::Visitors::ToRuby" => ->(s) { Psych::Visitors::ToRuby.create },
  "Psych::Visitors::YAMLTree" => ->(s) { Psych::Visitors::YAMLTree.create },
  "Psych::Visitors::YAMLTree::Registrar" => ->(s) { Psych::Visitors::YAMLTree::Registrar.new },
  "Addrinfo" => ->(s) { s.dice.pick([-> { Addrinfo.tcp("127.0.0.1", 0) }, -> { Addrinfo.unix("sock") }]).call },
  "BasicSocket" => ->(s) { specimen_sockets(s) },
  "Socket" => ->(s) { a, b = Socket.pair(:UNIX, :STREAM); s.reach(b) << "text"; a },
  "UNIXSocket" => ->(s) { specimen_sockets(s) },
  "UNIXServer" => ->(s) { UNIXServer.new("s#{s.dice.below(2**40)}") },
  "TCPServer" => ->(s) { TCPServer.new("127.0.0.1", 0) },
  "TCPSocket" => ->(s) { server = s.reach(TCPServer.new("127.0.0.1", 0)); TCPSocket.new("127.0.0.1", server.addr[1]) },
  "IPSocket" => ->(s) { TCPServer.new("127.0.0.1", 0) },
  "UDPSocket" => ->(s) { UDPSocket.new.tap { |u| u.bind("127.0.0.1", 0) } },
  "Socket::Option" => ->(s) { Socket::Option.int(:INET, :SOCKET, :KEEPALIVE, 1) },
  "Socket::AncillaryData" => ->(s) { Socket::AncillaryData.int(:UNIX, :SOCKET, :RIGHTS, 3) },
  "Socket::Ifaddr" => ->(s) { Socket.getifaddrs.first },
  "Socket::UDPSource" => ->(s) { Socket::UDPSource.new(Addrinfo.udp("127.0.0.1", 1), Addrinfo.udp("127.0.0.1", 2)) { |x| s.strike } },
  "Socket::ResolutionError" => ->(s) { Socket::ResolutionError.new("x") },
  "PP::PPMethods" => ->(s) { PP.new(+"", 20) },
  "Etc::Passwd" => ->(s) { Etc.getpwuid },
  "Etc::Group" => ->(s) { Etc.getgrgid },
  "OpenSSL::PKCS7::SignerInfo" => ->(s) { OpenSSL::PKCS7::SignerInfo.new(specimen_certificate, specimen_ec, "SHA256") },
  "ObjectSpace::InternalObjectWrapper" => ->(s) { ObjectSpace::InternalObjectWrapper.new(:imemo_env, s.dice.pick([0, 8, -1, 2**62, [].object_id])) },
  "RubyVM::AbstractSyntaxTree::Node" => ->(s) { RubyVM::AbstractSyntaxTree.parse("a = [1, b]\nfoo(*a) { |x| x }", keep_script_lines: true) },
  "RubyVM::AbstractSyntaxTree::Location" => ->(s) { RubyVM::AbstractSyntaxTree.parse("1").locations[0] },
}.freeze

# Modules whose functions are called on the module itself.
FUNCTIONS = %w[BigDecimal::Internal BigMath Digest ERB::Escape Etc FileTest GC Kconv NKF GC::Profiler JSON JSON::JSONError Marshal Math ObjectSpace OpenSSL OpenSSL::ASN1 OpenSSL::KDF OpenSSL::PKCS5 OpenSSL::PKey OpenSSL::Random OpenSSL::SSL OpenSSL::X509::Name::RFC2253DN Process Process::GID
               Process::Sys Process::UID Psych RbConfig RubyVM::AbstractSyntaxTree RubyVM::JIT Signal Socket::Sys Syslog Thread::Backtrace Warning Zlib Forwardable ErrorHighlight].freeze

# Classes that no specimen is made of, and why.
WITHOUT = {
  "DidYouMean" => "the installed Ruby's own files, or Ruby code over Strings and Arrays that are tested here",
  "ErrorHighlight" => "Ruby code over Exception#backtrace_locations",
  "Reline" => "the installed Ruby's own files: Structs",
  "IO::ConsoleMode" => "needs a terminal: tests/stdlib/pty.rb",
  "IO::Pretty" => "Ruby code that only Kernel#pp uses",
  "Ruby::Box" => "has no objects: `new` always raises",
  "Process::Waiter" => "a Thread with a method `pid`: Process.detach",
  "OpenSSL::Buffering" => "a part of OpenSSL::SSL::SSLSocket",
  "OpenSSL::Marshal" => "`to_der` for Marshal",
  "OpenSSL::Marshal::ClassMethods" => "the same",
  "OpenSSL::OCSP::Signed" => "a part of OpenSSL::OCSP::Request",
  "OpenSSL::OCSP::Whole" => "a part of OpenSSL::OCSP::Request",
  "OpenSSL::OCSP::Whole::Wrapping" => "makes an object around a handle",
  "OpenSSL::PKCS7::RecipientInfo" => "readers",
  "OpenSSL::PKey::DH" => "making one takes long; OpenSSL::PKey::EC has the same methods",
  "OpenSSL::PKey::DSA" => "as DH",
  "OpenSSL::SSL::Session" => "needs a connection: tests/stdlib/openssl_ssl.rb",
  "OpenSSL::SSL::SSLSocket::Connection" => "a part of OpenSSL::SSL::SSLSocket",
  "OpenSSL::SSL::SocketForwarder" => "calls the socket",
  "OpenSSL::Timestamp::Whole" => "a part of OpenSSL::Timestamp::Request",
  "OpenSSL::Timestamp::Whole::Wrapping" => "makes an object around a handle",
  "OpenSSL::X509::Extended" => "a part of OpenSSL::X509::Certificate",
  "OpenSSL::X509::Signed::Wrapping" => "makes an object around a handle",
  "OpenSSL::X509::Signed" => "a part of OpenSSL::X509::Certificate",
  **%w[AuthorityInfoAccess AuthorityKeyIdentifier CRLDistributionPoints Helpers SubjectKeyIdentifier].to_h { |name| ["OpenSSL::X509::Extension::#{name}", "a part of OpenSSL::X509::Certificate"] },
  "Psych::AliasesNotEnabled" => "an exception with a fixed message",
  "Psych::AnchorNotDefined" => "an exception with a fixed message",
  "Psych::ScalarScanner::Options" => "prepended to Psych::ScalarScanner",
  "Psych::Visitors::ToRuby::Later" => "prepended to Psych::Visitors::ToRuby",
  "Psych::Visitors::YAMLTree::Later" => "prepended to Psych::Visitors::YAMLTree",
  "Psych::Visitors::NoAliasRuby" => "one method that raises",
  "Psych::Visitors::RestrictedYAMLTree" => "Ruby code over YAMLTree",
  "Syslog::Constants" => "numbers",
  "Syslog::Macros" => "the same functions as Syslog has",
  "RubyVM::HostOutput" => "only a host program makes one",
}.freeze
