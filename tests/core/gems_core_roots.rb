# What suites of gems stumbled over: `super` chains, exceptions, bindings, Strings behind streams.

# A module that is an ancestor already stays where it stands.
module Shared; end
module Deep; include Shared; end
module Left; include Deep; end
module Right; include Deep; end
class Both; include Left; include Right; end
p Both.ancestors.take_while { |m| m != Object }
class Turned; include Deep; include Left; end
p Turned.ancestors.take_while { |m| m != Object }
class Sub < Turned; include Right; end
p Sub.ancestors.take_while { |m| m != Object }

module Noisy; def rm(*) = "noisy " + super; end
module Plain; def rm(*) = "plain"; end
module Dsl; include Plain; include Noisy; end
module Helpers; include Plain; end
class Case; include Dsl; include Helpers; end
p Case.new.rm

# `raise` calls an exception's own set_backtrace, with Strings.
class Witness < StandardError
  attr_reader :seen
  def set_backtrace(lines)
    @seen = lines
    super
  end
end
begin
  raise Witness, "x"
rescue Witness => e
  p e.seen.class, e.seen.first.class, e.backtrace == e.seen
end

# Wrong arguments are reported where the method begins.
def takes_none

  :never
end

def takes_key(a:)

  a
end
for call in [-> { takes_none(1) }, -> { takes_key }, -> { takes_key(a: 1, b: 2) }] do
  begin
    call.()
  rescue ArgumentError => e
    puts e.message, e.backtrace.first[/\d+(?=:in)/]
  end
end

# The binding of an empty block sees the variables around it.
def look(&block) = eval("list.size", block.binding)
def in_method
  list = [1, 2, 3]
  look {}
end
p in_method
p [1].map { list = [1, 2]; look {} }
def of_lambda
  list = [1]
  look(&-> {})
end
p of_lambda

# What is one object is equal, wherever it stands.
nan = Float::NAN
p({ a: nan } == { a: nan }, [nan] == [nan], { a: nan } <= { a: nan, b: 1 })

# Copy hooks are private.
p [Array, String, Range, Hash].map { |c| c.public_method_defined?(:initialize_copy) }

# Encodings are marshalled by name.
p Marshal.load(Marshal.dump([Encoding::UTF_8, Encoding::EUC_JP])), Marshal.load(Marshal.dump(Encoding::BINARY)).equal?(Encoding::BINARY)

# A program's output goes where the call says, also when the stream points elsewhere.
require "tempfile"
Tempfile.create("out") do |file|
  $stdout.flush
  before = $stdout.dup
  $stdout.reopen(file)
  there = `echo captured`
  system("echo inherited")
  piped = IO.popen("cat", "r+") { |io| io.puts "piped"; io.close_write; io.read }
  $stdout.reopen(before)
  p there, piped, `echo after`
  file.rewind
  p file.read
end

# Places in texts of four bytes a character, broken ones and a rest of fewer bytes included.
wide = "a\u3042b\u{1f600}c".encode("UTF-32LE")
p wide.size, (0..6).map { |i| wide[i, 2]&.encode("UTF-8") }, wide.index("c".encode("UTF-32LE")), wide[-2..].bytesize
broken = ("a".encode("UTF-32BE").b + "\xff\xff\xff\xff\x00\x00".b).force_encoding("UTF-32BE")
p broken.size, (0..4).map { |i| broken[i]&.bytes }, broken.valid_encoding?, broken[1..].bytesize
# Needs the standard library.
