# What core methods refuse, in which order, and what they warn of.
require "stringio"

def told
  $stderr = StringIO.new
  p yield
rescue Exception => e
  puts "#{e.class}: #{e.message.lines.first}"
ensure
  warned = $stderr.string
  $stderr = STDERR
  warned.each_line { |l| puts "  #{l[/warning: .*/]}" }
end

told { [].freeze.replace(42) }
told { {}.freeze.replace(42) }
told { [0][2**61] = 1 }
told { [0][2**61, 1] = [1] }
told { Struct.new(:x=) }
told { Struct.new(:x?).new(1).x? }
told { Thread::Queue.new.dup }
told { Thread::SizedQueue.new(1).clone }
told { Thread::ConditionVariable.new.dup }
told { Marshal.dump(ARGF) }
told { Marshal.load("\x04\b/\fa\\u3042\0") }
told { begin; raise "x"; rescue => e; Marshal.load(Marshal.dump(e)).backtrace_locations; end }

# Lists joined.
item = Struct.new(:list) do
  def to_str
    list[1] = [0, [1]]
    "z"
  end
end.new
item.list = ["a", "b", item]
told { item.list.join("-") }
endless = Object.new
def endless.to_ary = [self]
told { [endless].join }
told { ["a", "b".encode("UTF-16LE")].join(" ") }
told { ["b".encode("UTF-16LE")].join.encoding }

# A pattern with a `match` of its own.
own = Class.new(Regexp) { def match(a, b, c) = a + b + c }.new("x")
told { "x".match(own, "y", "z") { |all| all.upcase } }
told { :x.match(own, "y", "z") { |all| all.upcase } }
told { "abc".match(/b/) { |m| m.pre_match } }
told { "abc".match(/z/) { |m| 1 } }

# Paths of constants.
module Held
  NUMBER = 1
  module Inner; end
end
told { Object.const_defined?("Held::NUMBER::X") }
told { Held.const_source_location("NUMBER::X") }
told { Held.const_get("NUMBER::X") }
told { Held.const_defined?("Nowhere::X") }
cold = Class.new { const_set(:A, 1); def self.b = 1 }.freeze
told { cold.class_eval { private_constant :A } rescue p $!.class }
told { cold.class_eval { private_class_method :b } rescue p $!.class }

$VERBOSE = true
told { Class.new { def object_id = 1 } && nil }
told { Class.new { def __send__ = 1; remove_method :__send__ } && nil }
told { Module.new { private_constant; public_constant } && nil }
told { Class.new { def a = 1; alias a a; def a = 2 } && nil }
told { Class.new { def a = 1; alias a a; def a = 2; def a = 3 } && nil }
