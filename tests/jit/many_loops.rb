# A method with so many loops over so many variables that compiling it would take seconds and hundreds of megabytes is left to the interpreter; one with fewer is not.
require "rbconfig"
def source(loops)
  text = +"def f(n)\n s = 0\n"
  loops.times { |i| text << "i#{i} = 0\nwhile i#{i} < n\ns += i#{i}\ni#{i} += 1\nend\n" }
  text << "s + #{(0...loops).map { |i| "i#{i}" }.join(" + ")}\nend\n"
  "#{text}r = nil; 300.times { r = f(9) }; p r; p RubyVM::JIT.stat[:refused].keys if defined?(RubyVM::JIT)"
end
[40, 150].each do |loops|
  options = defined?(RubyVM::JIT.stat) ? ["--jit=always"] : []
  result, refused = IO.popen([RbConfig.ruby, *options, "-e", source(loops)], &:readlines).map(&:chomp)
  p result, options.empty? || refused == (loops == 40 ? "[]" : '["too many variables at loops"]')
end
