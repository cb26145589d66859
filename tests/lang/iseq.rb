# RubyVM::InstructionSequence: what does not depend on the bytecode.
I = RubyVM::InstructionSequence
i = I.compile("x = 1\n[x, __FILE__, __LINE__, self.to_s]", "f.rb", nil, 7)
p i.eval, i.path, i.first_lineno
p I.compile("1").path, I.compile("1").label, I.compile("1").inspect
def meth(a)
  a.then { |b| b }
end
m = I.of(method(:meth))
p m.label, m.first_lineno, m.disasm.is_a?(String), I.of(method(:puts))
kids = []
m.each_child { |c| kids << c.label }
p kids
begin
  I.compile("1 +")
rescue SyntaxError => e
  p e.class
end
p I.of(3)
begin
  m.eval
rescue TypeError => e
  p e.message
end
p I.compile_file(File.expand_path("support/feature.rb", "#{__dir__}/../isolation")).respond_to?(:eval)
p i.to_a.class, i.to_a[9]
