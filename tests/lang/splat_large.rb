# Lists that have no room in the stack are splatted all the same: builtins read them where they are, a rest parameter is one.
list = Array.new(400_000) { |i| i }
def rest(*r) = [r.size, r.first, r.last]
def one_and_rest(a, b, *r, &k) = [a, b, r.size, r.last, k&.call]
def nameless(*) = rest(*)
def two(a, b) = a
class Made
  attr_reader :all
  def initialize(first, *all) = (@first, @all = first, all)
end
p rest(*list), one_and_rest(*list), one_and_rest(:x, *list) { :block }, nameless(*list)
p one_and_rest(*list, &-> { :passed })
p [].push(*list).size, [:a].push(:b, *list).last, [1].concat(*list.map { [_1] }).size
p Hash[*list].size, [].union(list, *[[1]] * 300_000).size, list.values_at(*list).sum
p Made.new(*list).all.size, Made.new(:a, *list).all.last
p send(:rest, *list), public_send(:then) { rest(*list) }, method(:rest).call(*list), method(:rest).to_proc.call(*list)
p "%d %d" % list, format("%d", *list), File.join(*["a"] * 300_000).size
# What changes the list meanwhile changes no argument.
own = list.dup
p own.push(*own).size, own.unshift(*list).size
parts = Array.new(300_000) { [1] }
clears = Object.new
clears.define_singleton_method(:to_ary) { parts.clear; GC.start; [2] }
parts[150_000] = clears
p [].concat(*parts).sum, parts.size
rest_kept = nil
define_singleton_method(:keep) { |*r| rest_kept = r }
def self.change(*r) = r << 2
p change(*list).size, list.size
p((begin two(*list) rescue $!.class end), (begin no_such(*list) rescue $!.class end))
# Collections while they run.
def churn(*r) = (GC.start; r.map { |x| [x] }.size + Array.new(1000) { "x" * 100 }.size)
p churn(*list)
p list.each_slice(100_000).map { |part| [0].push(*part).size }
depth = 0
recurse = ->(n) { depth += 1; n == 0 ? rest(*list).first : recurse.(n - 1) }
p recurse.(100)
class Asked
  def method_missing(name, *list) = [name, list.size]
  def respond_to_missing?(*) = true
end
p Asked.new.anything(*list)
p((begin Object.new.puts(*list) rescue [$!.class, $!.message[/private method '\w+'/]] end))
