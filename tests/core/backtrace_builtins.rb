# Which builtins have a frame in backtraces: those that CRuby runs as instructions have none.
def t
  yield
rescue Exception => e
  puts "#{e.class}: #{e.message[0, 60].sub(/0x\h+/, "0x")}", e.backtrace[0..2].map { |l| "   " + l }
end
h = Hash.new { raise "d" }
o = Object.new
def o.hash = raise("hash")
t { h[1] }
t { h.fetch(1) { raise "k" } }
t { h[o] }
t { h[o] = 1 }
t { h.send(:[], o) }
t { h.store(o, 1) }
t { [1].freeze[0] = 1 }
t { [1]["a"] }
t { [1][-5] = 2 }
t { [1][1, 2, 3] }
t { "a" << nil }
t { "a".freeze.send(:<<, "b") }
t { "a".freeze.concat("b") }
t { "a".freeze.<<("b") }
t { [].freeze << 1 << 2 }
t { [].freeze.push("b") }
t { "\xff" =~ /x/ }
t { /x/ =~ "\xff" }
t { 1 % 0 }
t { {a: 1}.freeze[:b] = 2 }
t { h = {}.freeze; h["x"] ||= 3 }
D = Data.define(:a)
t { D.new }
t { D.new(1, 2) }
t { D.new(b: 1) }
t { D[1, 2, 3] }
t { D.new(1).with(b: 2) }
t { Struct.new(:a) { raise "st" } }
t { Data.define(:a) { raise "dt" } }
t { Class.new.new(1) }
class A; def initialize = raise("init"); end
t { A.new }
t { A.new { } }
t { A.new(1) }
t { A.send(:new) }
t { A.public_send(:new) { } }
t { A.method(:new).call }
t { b = proc {}; A.new(&b) }
t { A.new(*[]) }
t { [A].map(&:new) }
class C; def initialize(&b) = b.call; end
t { C.new { raise "blk" } }
t { fail "x" }
t { Kernel.fail "x" }
t { method(:fail).call "x" }
t { send(:fail, "x") }
