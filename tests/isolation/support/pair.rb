# Runs two child VMs that step through CODE at once: each says when it has changed its state, and looks at it only after the
# other has changed its own. CODE has the child's number in `me` (1 or 2) and calls `both` between change and look.
# Every child sends one value; they are printed in the order of the children.
PAIR_PRELUDE = <<~'RUBY'
  me, to_me, to_other, out = RubyVM::ARGV
  $me = me
  both = -> { to_other << :ready; to_me.recv }
RUBY

def pair(code)
  a = RubyVM::Channel.new
  b = RubyVM::Channel.new
  outs = [RubyVM::Channel.new, RubyVM::Channel.new]
  vms = [1, 2].map { |n| RubyVM.new("ruby", "-e", PAIR_PRELUDE + code) }
  vms[0].start(1, a, b, outs[0])
  vms[1].start(2, b, a, outs[1])
  results = outs.map(&:recv)
  vms.each(&:join)
  results.each { |r| p r }
  results
end
