class Foo
  def bar
    raise "it failed"
  end
end
def go
  [1].each { Foo.new.bar }
end
go
