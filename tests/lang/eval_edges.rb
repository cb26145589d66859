# Evals: jumps, visibility, lines, encodings.
def t(label)
  r = begin; yield; rescue Exception => e; "#{e.class}: #{e.message.gsub(/\(eval at .*?\)/, "(eval)")}"; end
  puts "#{label}: #{r.inspect}"
end
t("break") { [1].each { eval("break") } }
t("next") { 1.instance_eval("next 3") }
t("redo") { while true; eval("redo"); end }
t("retry") { begin; raise "x"; rescue; eval("retry"); end }
t("inside") { [eval("[1, 2].each { break 5 }"), eval("while true; break 6; end"), eval("[1].map { next 7 }"), lambda { eval("return 8") }.call] }
t("utf-16") { eval("1+1".encode("UTF-16LE")) }
t("utf-16 in a binding") { binding.eval("1+1".encode("UTF-16BE")) }
t("utf-32 iseq") { RubyVM::InstructionSequence.compile("1+1".encode("UTF-32LE")) }
t("unknown") { eval("# encoding: foo-bar\n1") }
t("not ASCII") { eval("# coding: utf-16le\n1") }
t("euc-jp") { eval("# encoding: euc-jp\n__ENCODING__") }
t("byte order mark") { [eval("\u{feff}__ENCODING__"), eval("\u{feff}# coding: sjis\n__ENCODING__")] }
t("lines") { [eval("__LINE__", nil, "f", -5), eval("\n\n__LINE__", nil, "f", -1), (eval("\nraise 'x'", nil, "f", -5) rescue $!.backtrace[0])] }
t("line of an error") { eval("(", nil, "f", -5) }
t("line too big") { eval("__LINE__", nil, "f", 2**31) }
t("locations") { eval("caller_locations(0, 1)[0].lineno", nil, "f", -7) }
class P1; eval("private"); def x; end; end
class P2; eval("private; def y; end"); def x; end; end
class P3; binding.eval("private"); def x; end; end
module P4; eval("module_function"); def x; end; end
class P5; private; eval("def x; end"); class_eval("def y; end"); end
class P6; def self.hide; private; end; hide; def x; end; end
t("private") { [P1, P2, P3, P4, P5, P6].map { |c| [c.public_instance_methods(false).sort, c.private_instance_methods(false).sort] } }
t("Kernel.eval") { [Kernel.eval("self"), eval("self").inspect, 5.send(:eval, "self")] }
t("forwarding") { def fw(*a, **k, &b) = [a, k, b&.call]; def via(...) = eval("fw(...)"); via(1, k: 2) { 3 } }
