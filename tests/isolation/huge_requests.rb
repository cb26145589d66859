# Requests that no machine can meet raise; nothing ends the process.
{
  "String#*" => -> { "x" * 10**12 }, "String#* more" => -> { "x" * (2**62) }, "Array.new" => -> { Array.new(10**10) },
  "Array.new more" => -> { Array.new(2**62) }, "Array#*" => -> { [1] * 10**13 }, "pow" => -> { 10**10**8 }, "pow more" => -> { 10**10**20 },
  "shift" => -> { 1 << 2**40 }, "shift more" => -> { 1 << 2**70 }, "ljust" => -> { "x".ljust(10**13) }, "center" => -> { "x".center(10**13) },
  "format" => -> { format("%9999999999d", 1) }, "format *" => -> { format("%*d", 10**13, 1) }, "pack" => -> { [1].pack("x10000000000000") },
  "fill" => -> { [].fill(0, 0, 10**13) }, "aset" => -> { [][10**13] = 1 }, "String.new" => -> { String.new(capacity: 10**14) },
  "first" => -> { [1].cycle.first(0); [1, 2].first(10**15) }, "range to_a" => -> { (1..10**13).to_a }, "insert" => -> { [1].insert(10**13, 1) },
  "product" => -> { a = Array.new(100_000, 1); a.product(a, a, a) }, "byteslice" => -> { "abc".byteslice(0, 10**18) },
  "Integer#digits" => -> { (2**100).digits.size }, "setbyte" => -> { "abc".setbyte(10**12, 1) }, "read" => -> { File.open("/dev/null").read(10**13) },
  "Array#flatten" => -> { a = [1]; 60.times { a = [a, a] }; a.size }, "Hash capacity" => -> { Hash.new(capacity: 10**15).size },
  "combination" => -> { (1..60).to_a.combination(30).size }, "repeated" => -> { Array.new(10**4, 1).repeated_permutation(50).size.bit_length },
  "Random.bytes" => -> { Random.bytes(10**13) }, "round" => -> { 1.round(-10**9) }, "Comparable" => -> { (10**100).clamp(0, 1) },
}.each do |name, job|
  shown = begin
    v = job.call
    v.respond_to?(:size) && !v.is_a?(Integer) ? "size #{v.size}" : v.inspect[0, 40]
  rescue NoMemoryError, StandardError => e
    e.class
  end
  puts "#{name}: #{shown}"
end
