# Without --gc=stress. What a VM does to its own machine code, its neighbours don't feel: counted, not timed.
JIT = RubyVM::JIT
# Whether it comes true while there is time.
def soon(seconds = 60)
  deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  until (done = yield)
    return false if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
  end
  done
end
HELP = <<~R
  def soon(seconds = 60)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    until (done = yield)
      return false if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    end
    done
  end
  def version(name) = RubyVM::JIT.enabled? ? RubyVM::JIT.version(method(name)) : { own: true, uncertain: 0 }
R

# One text, run with all kinds of operands by one VM, and with Integers by another one.
ODD = HELP + <<~R
  told, stop, operands = RubyVM::ARGV
  def add(a, b) = a + b
  def work(n, x, y)
    s = nil
    i = 0
    while i < n
      s = add(x, y)
      i += 1
    end
    s
  end
  if operands.size > 1
    # All kinds within the few rounds that are watched, whenever that is.
    mixed = -> { 250.times { operands.each { |x, y| __send__(:work, 5, x, y) } } }
    told << soon { mixed.call; (v = version(:work)) && (v[:uncertain] > 0 || !RubyVM::JIT.enabled?) }
    mixed.call until stop.size > 0
  else
    told << work(2000, 1, 2)
    # In machine code from the first call on, whoever it was made for. (Most often some that is made for Integers follows, see docs/plan.md.)
    told << !version(:work).nil?
    told << (work(2000, 1, 2) == 3 && !version(:work).nil?)
  end
R
told, stop = 2.times.map { RubyVM::Channel.new }
odd = RubyVM.new("odd", "-e", ODD).start(told, stop, [["a", "b"], [1.5, 2], [[1], [2]], [1, 2], [2**70, 1]])
p told.recv
plain = RubyVM.new("plain", "-e", ODD).start(told, stop, [[1, 2]])
p told.recv, told.recv, told.recv
stop << 1
[odd, plain].each(&:join)

# In processes with little memory for machine code, or little time: one VM wants all of it.
HOT = HELP + <<~R
  def make(n, size)
    lines = Array.new(size) { |k| "a = a + b * \#{k}; b = c - a if a > \#{k * 7}; c = a & b" }
    eval "def hot\#{n}(n) = (a = i = 0; b = 1; c = 2; while i < n; \#{lines.join("; ")}; i += 1; end; a)"
    t = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    send(:"hot\#{n}", 20) while Process.clock_gettime(Process::CLOCK_MONOTONIC) - t < 0.05
  end
R
GREEDY = HOT + <<~R
  told, stop = RubyVM::ARGV
  n = 0
  said = false
  until stop.size > 0
    make(n += 1, 60)
    (1..n).each { |k| send(:"hot\#{k}", 2) } if n % 10 == 0
    if !said && RubyVM::JIT.stat[:left] < 50_000
      told << 1
      said = true
    end
  end
R
# Each takes the compiler some 20 ms: what it has in advance is used up, and a hundredth of a core is little.
HEAVY = HOT + <<~R
  told, stop = RubyVM::ARGV
  n = 0
  until stop.size > 0
    make(n += 1, 120)
    told << 1 if n == 12
  end
R
MODEST = HELP + <<~R
  told, = RubyVM::ARGV
  def modest(n)
    s = 0
    i = 0
    while i < n
      s += i
      i += 1
    end
    s
  end
  told << soon { modest(2000) == 1999000 && version(:modest) }
R
TWO = <<~R
  told, ready, stop = 3.times.map { RubyVM::Channel.new }
  greedy = RubyVM.new("greedy", "-e", PROGRAM).start(ready, stop)
  ready.recv if RubyVM::JIT.enabled?
  modest = RubyVM.new("modest", "-e", #{MODEST.dump}).start(told)
  p told.recv ? true : false
  stop << 1
  [greedy, modest].each(&:join)
R
run = ->(program, *options) { IO.popen([RbConfig.ruby, *options, "-W0", "-e", program], err: %i[child out], &:read) }
puts run.(TWO.sub("PROGRAM") { GREEDY.dump }, "--jit-memory=1", "--jit-share=100")
puts run.(TWO.sub("PROGRAM") { HEAVY.dump }, "--jit-share=1")

# What was being compiled when the process forked is asked for again in the child.
puts run.(HELP + <<~R, "--jit-share=1")
  def late(n)
    s = 0
    i = 0
    while i < n
      s += i
      i += 1
    end
    s
  end
  200.times { |n| eval "def hot\#{n}(n) = (i = 0; i += 1 while i < n; i)"; send(:"hot\#{n}", 25_000) }
  late(25_000)
  late(25_000)
  pid = fork { exit!(soon { late(700) == 244650 && version(:late) } ? 12 : 13) }
  p Process.wait2(pid)[1].exitstatus
R

# A second VM runs what the first one was given, from its first call on; and goes on while its neighbour redefines what the loop is made of.
LOOP = HELP + <<~R
  told, stop, first = RubyVM::ARGV
  def steady(n)
    s = 0
    i = 0
    while i < n
      s += i
      i += 1
    end
    s
  end
  if first
    told << !!soon { steady(3000) && version(:steady) }
    until stop.size > 0
      raise "wrong" unless steady(3000) == 4498500
    end
    before = RubyVM::JIT.stat[:exits]
    100.times { raise "wrong" unless steady(3000) == 4498500 }
    after = RubyVM::JIT.stat[:exits]
    told << [!version(:steady).nil?, after[:others] - before[:others] <= (after[:tried] > 0 ? 1000 : 0)]
  else
    told << steady(3)
    v = version(:steady)
    told << [!v.nil?, RubyVM::JIT.enabled? ? v && v[:own] : false]
    class Integer
      alias plus +
      def +(other) = plus(other).plus(1)
    end
    told << steady(3)
  end
R
steady = RubyVM.new("steady", "-e", LOOP).start(told, stop = RubyVM::Channel.new, true)
p told.recv
RubyVM.new("other", "-e", LOOP).start(told, stop, false).join
p told.recv, told.recv, told.recv
stop << 1
p told.recv
steady.join
