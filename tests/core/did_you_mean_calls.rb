# Which words are candidates: reserved words for calls without a receiver only.
class Foo; def bar; end; end
def t
  yield
rescue NameError => e
  puts e.detailed_message(highlight: false).lines.grep(/undefined|super|private|Did|^  /).reject { |l| l =~ /\^/ }
  puts "private call" if e.respond_to?(:private_call?) && e.private_call?
end
x = nil
t { Foo.new.bra(1) }
t { Foo.new.baz(1) }
t { x.foo.bar }
t { x.foo }
t { bra }
t { nil.to_z }
t { self.yeild }
t { yeild }
t { yeild(1) }
t { 1.yeild }
t { 1.send(:yeild) }
t { 1.public_send(:yeild) }
t { [].lenght(1) }
t { Foo.bra }
class Sub < Foo; def baz = super; end
t { Sub.new.baz }
class Gone; def method_missing(*) = super; end
t { Gone.new.elsfi }
t { Gone.new.instance_eval { elsfi(1) } }
t { 1.puts }
t { self&.yeild }
