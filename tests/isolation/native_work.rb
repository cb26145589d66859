# Without --gc=stress. Native work whose cost grows with its input is left: at a limit, when its VM is killed, when another thread raises.
# Each snippet takes seconds to years if nothing stops it. With "--all" the larger ones run too.

SHARED = "a = []; 34.times { a = [a, a] }; b = []; 34.times { b = [b, b] }; "
NUMBERS = "n = 3**400_000; m = 7**300_000 + 2; "
RANDOM = "r = ->(n) { Random.bytes(n).unpack1('H*').hex }; "
DECIMAL = "require 'bigdecimal'; "

WORK = {
  "pow_mod" => "#{NUMBERS} n.pow(n, m)",
  "pow_mod_word" => "3.pow(1 << 2_000_000_000, 1_000_003 * 1_000_003)",
  "multiply" => "a = (1 << 150_000_000) - 1; a * (a - 3)",
  "divide" => "a = (1 << 400_000_000) - 1; a / (1 << 200_000_000).pred",
  "modulo" => "a = (1 << 400_000_000) - 1; a % (1 << 200_000_000).pred",
  "gcd" => "#{RANDOM} r.(2_000_000).gcd(r.(1_900_000))",
  "lcm" => "#{RANDOM} r.(2_000_000).lcm(r.(1_900_000))",
  "sqrt" => "Integer.sqrt((1 << 300_000_000) - 1)",
  "pow" => "n = (1 << 30_001) - 1; n ** 8_000",
  "to_s" => "((1 << 60_000_000) - 1).to_s",
  "digits" => "((1 << 60_000_000) - 1).digits(7)",
  "format" => "'%d' % ((1 << 60_000_000) - 1)",
  "Integer" => "Integer('9' * 30_000_000)",
  "to_i" => "('z' * 20_000_000).to_i(36)",
  "to_r" => "('0.' + '9' * 20_000_000).to_r",
  "Rational" => "#{RANDOM} Rational(r.(2_000_000), r.(1_900_000))",
  "rationalize" => "Rational(1 << 4_000_000, 3**1_000_000).rationalize(Rational(1, 1 << 1_000_000))",
  "BigDecimal sqrt" => "#{DECIMAL} BigDecimal('2').sqrt(30_000_000)",
  "BigDecimal exp" => "#{DECIMAL} BigMath.exp(BigDecimal('1.1'), 300_000)",
  "BigDecimal()" => "#{DECIMAL} BigDecimal('7.' + '3' * 30_000_000)",
  "join" => "#{SHARED} a.join",
  "flatten" => "#{SHARED} a.flatten",
  "puts" => "#{SHARED} File.open('/dev/null', 'w') { |f| f.puts(a) }",
  "inspect" => "#{SHARED} a.inspect",
  "hash" => "#{SHARED} a.hash",
  "==" => "#{SHARED} a == b",
  "<=>" => "#{SHARED} a <=> b",
  "JSON" => "#{SHARED} require 'json'; JSON.generate(a)",
  "Array#-" => "a = (1..9_000_000).to_a; loop { a - a }",
  "Array#|" => "a = (1..9_000_000).to_a; loop { a | a }",
  "transpose" => "a = [Array.new(30_000, 7)] * 30_000; a.transpose",
  "Array#*" => "([1] * 10) * 60_000_000",
  "Set.new" => "Set.new(1..30_000_000)",
  "casecmp?" => "s = 'é' * 20_000_000; loop { s.casecmp?(s.dup << 'É') }",
  "dump" => "s = 'é' * 60_000_000; s.dump",
  "scrub" => "s = \"\\xff\" * 60_000_000; s.scrub",
  "unpack" => "s = 'z' * 60_000_000; s.unpack('C*')",
  "pack M" => "s = '=' * 100_000_000; [s].pack('M')",
  "File#read" => "File.open('/dev/zero').read(3_000_000_000)",
  "random bytes" => "loop { Random.bytes(500_000_000) }",
  "JSON of text" => "require 'json'; JSON.generate('é\n' * 90_000_000, ascii_only: true)",
  "JSON.parse of text" => "require 'json'; JSON.parse('\"' + '\\\\n' * 90_000_000 + '\"')",
  "JSON.parse of spaces" => "require 'json'; JSON.parse(' ' * 1_000_000_000 + '1')",
  "CGI.escape" => "require 'cgi'; CGI.escape('é' * 90_000_000)",
  "CGI.escapeHTML" => "require 'cgi'; CGI.escapeHTML('<' * 200_000_000)",
  "CGI.unescape" => "require 'cgi'; CGI.unescape('%41' * 90_000_000)",
  "CGI.unescapeHTML" => "require 'cgi'; CGI.unescapeHTML('&lt;' * 90_000_000)",
  "strftime" => "Time.now.strftime('%9999d' * 500_000)",
  "undump" => "('\"' + '\\\\n' * 90_000_000 + '\"').undump",
  "native blocks" => "('a' * 100_000_000).each_byte.to_a",
  "String#*" => "'ab' * 1_500_000_000",
  "ISO-2022-JP" => "('あ' * 40_000_000).encode('ISO-2022-JP')",
  "second program" => "r = Regexp.new('(?=a)(?:a|b)' * 300_000); loop { r =~ 'x'; r =~ 'あ'.encode('EUC-JP') }",
}

LONGER = {
  "pow_mod, long" => "(3**50_000).pow(3**50_000, 7**50_000 + 2)",
  "to_s, long" => "(3**10_000_000).to_s",
  "digits in a long base" => "((1 << 60_000_000) - 1).digits(3**1000)",
  "fdiv" => "((1 << 60_000_000) - 1).fdiv(3**9_000_000)",
  "sort" => "a = Array.new(20_000_000) { |i| i * 7919 % 20_000_003 }; loop { a.sort }",
  "sort of text" => "a = Array.new(3_000_000) { |i| (i * 7919 % 20_000_003).to_s }; loop { a.sort }",
  "tr" => "s = 'é' * 300_000_000; s.tr('é', 'ê')",
  "delete" => "s = 'é' * 300_000_000; s.delete('b')",
  "squeeze" => "s = 'é' * 300_000_000; s.squeeze",
  "count" => "s = 'é' * 300_000_000; loop { s.count('é') }",
  "upcase" => "s = 'é' * 300_000_000; s.upcase",
  "reverse" => "s = 'é' * 300_000_000; s.reverse",
  "inspect of text" => "s = \"é\\n\" * 200_000_000; s.inspect",
  "encode" => "s = 'é' * 200_000_000; s.encode('UTF-16LE')",
  "encode, by table" => "s = 'あ' * 100_000_000; s.encode('Shift_JIS')",
  "ljust" => "''.ljust(800_000_000, 'éa')",
  "pack m" => "s = 'z' * 800_000_000; [s].pack('m')",
  "pack u" => "s = 'z' * 800_000_000; [s].pack('u')",
  "pack H" => "s = 'a' * 800_000_000; [s].pack('H*')",
  "unpack m" => "s = 'QUJD' * 200_000_000; s.unpack('m')",
  "unpack B" => "s = 'z' * 100_000_000; s.unpack('B*')",
  "unpack U" => "s = 'z' * 200_000_000; s.unpack('U*')",
  "hex" => "('f' * 800_000_000).hex",
  "Range#to_a" => "(1..400_000_000).to_a",
  "digest" => "require 'digest'; s = 'a' * 1_000_000_000; loop { Digest::MD5.hexdigest(s) }",
  "crc32" => "require 'zlib'; s = 'a' * 1_000_000_000; loop { Zlib.crc32(s) }",
  "succ" => "s = 'z' * 900_000_000; s.succ",
  "expand_path" => "s = 'z/' * 300_000_000; File.expand_path(s)",
  "fdiv of gigabits" => "a = 1 << 1_000_000_000; b = (1 << 999_999_000) + 1; loop { a.fdiv(b) }",
  "index between characters" => "s = \"\\xa4\\xa1\".dup.force_encoding('EUC-JP') * 400_000_000; loop { s.index(\"\\xa1\\xa4\".dup.force_encoding('EUC-JP')) }",
  "hexdump" => "IO::Buffer.new(200_000_000).hexdump",
}

# Generous: what the mended work takes longer than its limit is a hundredth of this.
BOUND = 5

def seconds
  begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
end

def ended(vm)
  late = seconds { vm.join rescue nil } > BOUND
  late ? "late" : vm.report[:limit] || vm.report[:kind]
end

work = ARGV.include?("--all") ? WORK.merge(LONGER) : WORK
work.each do |name, code|
  limited = RubyVM.new("limited", "-e", code, wall_limit: 0.2, grace: 0)
  limited.start
  at_limit = ended(limited)
  killed = RubyVM.new("killed", "-e", code)
  killed.start
  sleep 0.1
  killed.kill(grace: 0)
  puts "#{name}: #{at_limit}, #{ended(killed)}"
end

# Another thread's exception arrives in the middle, and the program goes on.
worker = Thread.new do
  Thread.current.report_on_exception = false
  begin
    ((1 << 60_000_000) - 1).to_s.size
  rescue => e
    e.message
  end
end
sleep 0.1
late = seconds { worker.raise("enough"); puts worker.value } > BOUND
puts late ? "late" : "in time"
