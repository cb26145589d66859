# With -n and -p Kernel has functions that change $_; without, it has not.
def run(*args, input)
  IO.popen([ENV.fetch("ZAKURO", File.readlink("/proc/self/exe")), *args], "r+") { |io| io.write(input); io.close_write; io.read }
end
print run("-ne", "chomp; print $_, '|'", "a\nb\n")
puts
print run("-ne", "puts chop", "ab\ncd\n")
print run("-pe", "sub(/b/) { $&.upcase }", "abb\n")
print run("-pe", "gsub('b', 'x')", "abb\n")
print run("-ne", "$_ = nil; begin; chomp; rescue TypeError; puts $!.message; end", "a\n")
p Kernel.respond_to?(:chomp, true), private_methods.include?(:gsub)
print run("-ne", "p Kernel.respond_to?(:chomp)", "a\n")
