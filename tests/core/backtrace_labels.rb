class Foo
  def bar = raise("x")
  def self.baz = new.bar
  def blk = [1].each { raise "in block" }
end
module Mod
  def self.go = raise("mod")
end
begin; Foo.baz; rescue => e; puts e.backtrace; end
begin; Mod.go; rescue => e; puts e.backtrace; end
begin; Foo.new.blk; rescue => e; puts e.backtrace; end
def top = raise("top")
begin; top; rescue => e; puts e.backtrace; end
begin; nil.upcase; rescue => e; puts e.message; end
begin; Foo.new.nope; rescue => e; puts e.message; end
begin; Foo.nope; rescue => e; puts e.message; end
begin; Mod.nope; rescue => e; puts e.message; end
begin; nope; rescue NameError => e; puts e.message; end
begin; nope(); rescue NameError => e; puts e.message; end
begin; 1.nope; rescue => e; puts e.message; end
begin; true.nope; rescue => e; puts e.message; end
class Foo; private def priv = 1; protected def prot = 1; end
begin; Foo.new.priv; rescue => e; puts e.message; end
begin; Foo.new.prot; rescue => e; puts e.message; end
begin; Object.new.instance_variable_get("bad"); rescue NameError => e; puts e.message; end
