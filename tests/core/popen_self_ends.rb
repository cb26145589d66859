# The block of IO.popen("-") in the copy: it ends with status 0 behind it, whatever the block does, and without the parent's at_exit blocks.
at_exit { puts "at_exit" }
p IO.popen("-") { |io| io ? io.read : print("from the child") }
p $?.exitstatus
IO.popen("-") { |io| io ? io.read : exit(3) }
p $?.exitstatus
IO.popen("-") { |io| io ? io.read : raise("unseen") }
p $?.exitstatus
IO.popen("-") { |io| io ? io.read : exit!(4) }
p $?.exitstatus
p IO.popen("-") { |io| io ? io.read : (at_exit { puts "its own" }; $stdout.print "kept"; throw :nowhere) }
io = IO.popen("-")
if io
  p io.read
else
  puts "without a block"
  exit!(0)
end
p $?.exitstatus
