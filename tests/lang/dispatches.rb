# Without --gc=stress.
# Every instruction (with dispatches_calls.rb) is dispatched a million times without the interpreter being left: a handler that calls the next one instead of jumping to it would
# run out of native stack. crates/compiler/tests/dispatches.rs looks whether none is missing here.
N = (ARGV[0] || 1_000_000).to_i

def counted(name)
  yield
rescue SystemStackError
  puts "#{name}: out of stack"
end

def self.helper(x = nil) = x

counted("numbers") do
  i, x, y, f = 0, 7, 3, 1.5
  while i < N
    x + y; x - y; x * y; x / y; x % y; y ** 2; x + 1; x - 1; x * 2; x / 2; x % 2; x & 1; x << 1; x >> 1; x & y; x | y; x ^ y; x << y; x >> y
    x < y; x <= y; x > y; x >= y; x == y; x != y; !x; -x; x.succ; x.nil?; [x, y].max; [x, y, i].include?(y); f + 1; f * f; -f
    i += 1
  end
end

counted("conditions") do
  i = 0
  a, b = 1, 2
  while i <= N
    nil if a < b; nil if a <= b; nil if a > b; nil if a >= b; nil if a == b
    nil unless a < b; nil unless a <= b; nil unless a > b; nil unless a >= b; nil unless a == b
    nil if a != b; nil unless a != b
    nil if a < 1; nil if a <= 1; nil if a > 1; nil if a >= 1; nil if a == 1; nil if a != 1
    nil unless a < 1; nil unless a <= 1; nil unless a > 1; nil unless a >= 1; nil unless a == 1; nil unless a != 1
    a and b; a or b; a&.succ; nil if a; nil unless a
    a ||= 1; a = b if a.nil?; a = 1
    case a when 2 then 3 when String then 4 end
    case i when 0 then 1 when 10 then 2 when 20 then 3 when 30 then 4 when 40 then 5 end
    i += 1
  end
  n = N
  i = 0
  i += 1 while i < n
  i -= 1 while i > a
  i += 1 while i <= n
  i -= 1 while i >= a
  # What stands in the instruction has 16 bits.
  (n / 30_000 + 1).then do |rounds|
    while rounds > 0
      i = 0
      i += 1 while i < 30_000
      i -= 1 while i > 0
      i += 1 while i <= 30_000
      i -= 1 while i >= 0
      rounds -= 1
    end
  end
  i = n
  begin i -= 1; end until i == 0
  i = n
  go = true
  go = (i -= 1) > 0 while go
  i = n
  stop = false
  stop = (i -= 1) == 0 until stop
  i = 0
  loop = [nil, true]
  begin i += 1; end while loop[i < n ? 1 : 0]
  begin i -= 1; end until loop[i > 0 ? 0 : 1]
  i = 0
  while true
    i += 1
    break if i == n
  end
  i = 0
  while (i += 1) < n
    next
  end
end

counted("variables") do
  outer = 0
  $global = nil
  inside = -> { outer += 1; $global = outer; $global; @ivar = outer; @ivar; N; Math::PI; ::N }
  i = 0
  while (i += 1) < N
    inside.call
    $global = nil; $global; @ivar = 1; @ivar; N; Math::PI
    nil; true; false; self; "text"; "frozen".freeze; 12; 1.5; :symbol; 10**20; [outer].first
    "a#{i}b"; "#{i}#{self}#{i}"; :"a#{i & 1}"; i..9; i...; [i, 1]; { i => 1, "b" => 2 }; [*[1], 2]; [i, *[1]]; { **{ a: 1 }, b: 2 }
    a, (b, *c), d = 1, [2, 3], 4
    a, b = b, a
    i > 0 ? (p = i) : p
    [1, { k: 2 }] => [Integer => p, { k: }]
    defined?(@ivar); defined?(String); defined?(helper)
  end
end

counted("collections") do
  array, hash, text = [1, 2, 3], { 1 => 2 }, "abc"
  i = 0
  while (i += 1) < N
    array[1]; array[1] = 2; hash[1]; hash[1] = i; array.length; text.size; array.empty?; text.empty?; hash.empty?; array.nil?
    array << 1; array.pop; array[1] += 1; array[0] ||= 1
    x, *y = array
    *x, y = 1
  end
end

puts "done"
