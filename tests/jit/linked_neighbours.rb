# Without --gc=stress. VMs that run one program share functions that take for granted where their own calls lead; what one of them changes, on the way down, the others don't notice. A VM whose call sites have met nothing runs them, too.
PROGRAM = <<~R
  told, change, rounds = RubyVM::ARGV
  def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
  class Walk
    def down(n, log)
      return log if n == 0
      rare(log) if n == 3 && @rare
      log << n
      down(n - 1, log)
    end

    def rare(log)
      log << :rare
      eval(@rare)
    end

    def with(text)
      @rare = text
      self
    end
  end
  rounds.times { fib(12); Walk.new.down(6, []) }
  result = [fib(13), Walk.new.down(5, []), Walk.new.with(change).down(5, []), Walk.new.down(5, []), fib(13)]
  told << result
R
CHANGES = [
  "nil",
  "class ::Walk; def down(n, log) = log << :other; end",
  "def self.down(n, log) = log << :own",
  "class ::Object; def fib(n) = n < 2 ? n : 1 + fib(n - 2); end",
  "class ::Walk; prepend(Module.new { def down(n, log) = super(n, log << :before) }); end",
  "class ::Integer; alias o -; def -(x) = x == 1 && self == 2 ? 0 : o(x); end",
]
# The first one has the functions made; those after it begin with empty caches.
[2000, 60, 3].each do |rounds|
  CHANGES.each do |change|
    told = RubyVM::Channel.new
    RubyVM.new("n", "-e", PROGRAM).start(told, change, rounds).join
    p told.recv
  end
end
