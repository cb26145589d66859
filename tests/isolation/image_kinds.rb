# Changes of thirty kinds, those inside Sets and other compounds too: after each, a fork and a fork of a fork find what the program has.
require "set"
class A; attr_accessor :x; def hi = 1; end
module M1; def m = :m1; end
module M2; def m = [:m2, super]; end
S = Struct.new(:a, :b)
ST = S.new(1, [2])
SET = Set[1,2,3]
CMP = {}.compare_by_identity
DEF = Hash.new { |h,k| h[k] = k.to_s * 2 }
STR = +"abc"
SYM = []

$arr = [1]
alias $other $arr
def state
  [A.new.tap{_1.x=3}.then{|a| [a.hi, (a.m rescue :none), a.x]}, ST.to_a, SET.to_a, CMP.values, DEF.to_a, STR, STR.encoding.name, $arr, $other,
   A.ancestors.map(&:to_s), A.instance_methods(false).sort, Object.const_defined?(:NEWC), (NEWC rescue nil), A.class_variables.sort.map{[_1, A.class_variable_get(_1)]},
   A.singleton_methods.sort, ENV["Q"], rand(1) , A.instance_variable_get(:@k), A.name, (B.name rescue nil), STR.frozen?, SYM, Comparable.instance_methods.size, Integer.instance_methods(false).size, (5.zork rescue 0), defined?(foo), $; , $,, __method__.inspect, Dir.pwd, $stdout.sync, A.const_get(:Z, false)] rescue [$!.class, $!.message]
end
bad = 0
r = Random.new((ARGV[0]||1).to_i)
n = (ARGV[1] || (ENV["ZAKURO_TEST_SCALE"] == "small" ? 40 : 200)).to_i
n.times do |i|
  k = r.rand(34)
  case k
  when 0 then A.class_eval { define_method(:hi) { i } }
  when 1 then A.include(M1)
  when 2 then A.prepend(M2)
  when 3 then ST.b << i
  when 4 then ST.a = i
  when 5 then SET << i
  when 6 then SET.delete(SET.first)
  when 7 then CMP["k"] = i
  when 8 then DEF[i % 5]
  when 9 then STR << "z"
  when 10 then STR.force_encoding(i.even? ? "BINARY" : "UTF-8")
  when 11 then $arr = [$arr, i].flatten.last(4)
  when 12 then $arr << i
  when 13 then Object.send(:remove_const, :NEWC) rescue Object.const_set(:NEWC, [i])
  when 14 then A.class_variable_set(:@@q, [i])
  when 15 then A.define_singleton_method("s#{i % 3}") { i }
  when 16 then ENV["Q"] = i.to_s
  when 18 then A.instance_variable_set(:@k, { i => STR })
  when 19 then eval("class A; def z#{i % 4} = #{i}; end")
  when 20 then A.send(:remove_method, :"z#{i % 4}") rescue 0
  when 21 then eval("class B < A; end; B")
  when 22 then Object.send(:remove_const, :B) rescue 0
  when 23 then SYM << :"dyn#{i}"
  when 24 then SYM.clear
  when 25 then eval("class Integer; def zork = #{i}; end")
  when 26 then Dir.chdir(["/", "/usr"][i % 2])
  when 27 then $stdout.sync = i.even?
  when 28 then A.const_set(:Z, [SYM, ST]) rescue 0
  when 29 then STR.replace("fresh#{i}" * (i % 7))
  when 30 then SYM.unshift(ST, SET).slice!(3..)
  when 31 then A.send(:public, :hi)
  when 32 then A.singleton_class.include(Enumerable)
  when 33 then GC.start if i % 5 == 0
  end
  mine = Marshal.dump(state)
  theirs = RubyVM.fork { Marshal.dump(state) }.value
  if mine != theirs
    bad += 1
    puts "#{i} kind #{k}:", Marshal.load(mine).zip(Marshal.load(theirs)).reject { |a,b| a == b }.inspect[0,300] if bad < 4
  end
  if r.rand(10) == 0
    t = RubyVM.fork(r.rand(100)) { |z| STR << "child#{z}"; ST.b << z; x = Marshal.dump(state); y = RubyVM.fork { Marshal.dump(state) }.value; x == y }.value
    bad += 1 unless t
  end
end
puts "bad #{bad}"
