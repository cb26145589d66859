# A Proc of a Symbol that `to_proc` gives sees the refinements of where it is called; one of `&:name` those of where that stands.
class Integer
  def bar = "bar"
end
def outside(pr) = [pr.call(1), [1].map(&pr)]
OUT = :bar.to_proc
module Inside
  using(Module.new { refine(Integer) { def bar = "refined" } })
  PR = :bar.to_proc
  PB = proc(&:bar)
  def self.call(pr) = [pr.call(1), [1].map(&pr)]
  p PR.call(1), PR.(1), PR[1], PR.yield(1), PR === 1, PR.curry[1], PR.method(:call).call(1), PR.send(:call, 1), PR.to_proc.call(1)
  p [1].map(&PR), [1].map(&OUT), [1].map(&PB), OUT.call(1), PB.call(1), OUT.equal?(PR)
end
p outside(Inside::PR), outside(Inside::PB), outside(OUT)
p Inside.call(Inside::PR), Inside.call(Inside::PB), Inside.call(OUT)
