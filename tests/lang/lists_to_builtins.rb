# Builtins that are called with lists, many times from one place.
def show(name)
  last = nil
  30.times { last = yield }
  p [name, last]
rescue => e
  puts "#{name}: #{e.class}: #{e.message}"
end

list = [3, 1, 2]
none = []
empty = {}
options = {chomp: true}
flagged = [Hash.ruby2_keywords_hash({chomp: true})]
flagged_empty = [Hash.ruby2_keywords_hash({})]
plain = [{chomp: true}]

show("itself") { itself.equal?(itself(*none)) }
show("push") { [0].push(*list) }
show("push itself") { a = [1, 2]; a.push(*a); a }
show("push two") { [0].push(7, *list) }
show("push nil") { [0].push(*nil) }
show("push range") { [0].push(*1..3) }
show("push string") { [0].push(*"a") }
show("with nothing by name") { [0].push(*list, **empty) }
show("with nil by name") { [0].push(*list, **nil) }
show("only nothing by name") { [0].push(1, **empty) }
show("keywords become a Hash") { [0].push(*list, **options) }
show("flagged") { "a\nb\n".lines(*flagged) }
show("flagged for a list") { [0].push(*flagged) }
show("flagged, none") { [0].push(*flagged_empty) }
show("flagged before keywords") { [0].push(*flagged_empty, **empty) }
show("a Hash that is none") { [0].push(*plain) }
show("a Hash refused") { "a\nb\n".lines(*plain) }
show("too many") { "a".upcase(*[:ascii, 1, 2]) }
show("too few") { "a".center(*none) }
show("call of a Proc") { proc { |a, b| [a, b] }.call(*list) }
show("call of a Method") { [0].method(:push).call(*list) }
show("send") { [0].send(:push, *list) }
show("send a list") { [0].send(*[:push, 1]) }
show("public_send") { [0].public_send(*[:push, 1]) }
show("new") { Struct.new(:a, :b).new(*[1, 2]).to_a }
show("in a range") { 5.between?(*[1, 9]) }
show("private") { Object.new.puts(*list) }
show("missing") { 1.unknown(*list) }
show("what it was given stays") { [0].push(*list).clear; list }
p list, flagged, flagged_empty, empty

class Words < Array
  def to_a = ["from to_a"]
end
show("a kind of Array") { [0].push(*Words.new([5, 6])) }

class Listed
  def to_a = [8, 9]
end
listed = Listed.new
show("to_a") { [0].push(*listed) }

# Other receivers at the same place, and methods that are defined meanwhile.
def length_with(object, list) = object.count(*list)
a, b = [1, 2, 1], "banana"
10.times { length_with(a, [1]); length_with(b, ["a"]) }
p length_with(a, [1]), length_with(b, ["a"]), length_with({a: 1}, [])
class Array
  alias count_before count
  def count(*given) = [:mine, given]
end
p length_with(a, [1])
class Array
  alias count count_before
end
p length_with(a, [1])

class Quiet
  def ask(other) = other.hidden(*[])
  def hash_of(list) = hash(*list).class
  protected def hidden = :hidden
end
show("protected") { Quiet.new.ask(Quiet.new) }
show("of itself") { Quiet.new.hash_of([]) }
show("of itself, too many") { Quiet.new.hash_of([1]) }

# A list that has no room in the stack.
many = Array.new(200_000) { _1 }
3.times { p [0].push(*many).size }

# What is called is told.
seen = []
trace = TracePoint.new(:c_call) { |t| seen << t.method_id }
pushed = -> { [0].push(*list) }
20.times { pushed.call }
trace.enable { pushed.call }
p seen.include?(:push)
20.times { pushed.call }

def where = [3].fetch(*[7])
5.times { where rescue nil }
begin
  where
rescue IndexError => e
  puts e.message, e.backtrace.first(2).map { _1[/\d+:in .*/] }
end

def nothing = :nothing
def one(a) = a
show("Ruby, nil") { nothing(*nil) }
show("Ruby, one and nil") { one(1, *nil) }
show("Ruby, too few") { one(*nil) }
