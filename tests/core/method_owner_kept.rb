# The owner of a method whose visibility was changed alone stays what it is, however many others are looked up meanwhile.
class Src
  def hidden = :h
  private :hidden
end
class Dst < Src
  public :hidden
end
m = Dst.new.method(:hidden)
p m.owner, m.unbind.owner
2000.times { |i| Class.new { define_method("m#{i}") { nil } }.new.method("m#{i}") && Object.new.respond_to?("x#{i}") }
p m.owner, Src.instance_method(:hidden).owner
