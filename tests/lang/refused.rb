# What the parser lets pass and CRuby's compiler refuses; jumps out of evals.
def try(source)
  p eval(source)
rescue SyntaxError => e
  # The parser's reports mark the place, the compiler's are one line.
  text = e.message
  puts "#{source.inspect}: #{text[/(Invalid|Can't|unexpected (keyword|block) arg)[^;\n]*/]}#{" (one line)" if text.lines.size == 1}"
rescue StandardError => e
  puts "#{source.inspect}: #{e.class}: #{e.message}"
end
["yield", "[1].each { yield }", "1.times { eval('yield') }", "class A; yield; end", "module M; -> { yield }; end", "class << self; yield; end",
 "class A; eval('yield'); end", "def self.a = yield; a { 3 }", "defined?(yield)", "for i in [1]; yield; end"].each { |s| try(s) }
def in_method(source)
  eval(source)
rescue SyntaxError => e
  e.message[/Invalid.*/]
rescue LocalJumpError => e
  e.message
end
p in_method("yield") { 42 }, in_method("[1].map { yield }") { 43 }, in_method("eval('yield')") { 44 }, in_method("yield")
p in_method("instance_eval('yield')") { 45 }, in_method("TOPLEVEL_BINDING.eval('yield')") { 46 }, in_method("class A; eval('yield'); end") { 47 }
singleton_class.define_method(:defined) { |s| in_method(s) { 48 } }
p defined("yield")
singleton_class.define_method(:defined2) { |s| begin; eval(s); rescue SyntaxError => e; e.message[/Invalid.*/]; end }
p defined2("yield") { 49 }

["break", "next", "redo", "retry", "[1].each { break 5 }", "[1].map { next 5 }", "while true; break 6; end", "begin; 1; ensure; break; end",
 "begin; raise 'a'; rescue; [1].each { retry }; end", "begin; raise 'a'; rescue; class A; retry; end; end", "begin; raise 'a'; rescue; retry if (@n = @n.to_i + 1) < 3; @n; end",
 "while true; def f(a = break) = 1; end", "class A; redo; end", "-> { break 7 }.()", "proc { |a = 1| redo if (@m = @m.to_i + 1) < 3; @m }.()"].each { |s| try(s) }
["a = [1]; a[0, &nil] = 1", "a = [1]; a[k: 1] += 1", "a = [1]; a[0, &nil], b = 1, 2", "a = [1]; for a[k: 1] in [1]; end", "begin; raise 'a'; rescue => $a[k: 1]; end", "def m(**) = (self[0, **] = 1)",
 "def m(&) = (self[0, &] ||= 1)"].each { |s| try(s) }

# `super` without arguments where the parameters are not at hand.
class Base
  def f(a, b = 2) = [a, b]
end
class Derived < Base
  def f(a, b = 3) = eval("super")
end
class Hidden < Base
  def f(a, b = 3) = proc { }.binding.eval("super")
end
p Derived.new.f(1)
p Hidden.new.f(1)
Base.define_method(:g) { eval("super") }
Base.new.g rescue puts $!.message

# A call on self may be private, safe or not.
self&.puts "private"
self&.nothing rescue p $!.private_call?
