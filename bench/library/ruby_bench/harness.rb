# A harness for ruby-bench's programs (benchmarks/NAME.rb, benchmarks/NAME/benchmark.rb in a checkout of it): `SECS=3 RUBY -I bench/library/ruby_bench PROGRAM` says on standard error how many seconds of
# processor time the first round took, the median of the later half of its rounds, and how many there were. Programs that need gems fail unless these are there.
Random.srand(1337)
def make_shareable(object, copy: false) = Ractor.make_shareable(object, copy: copy)
def use_gemfile(**) = nil

def run_benchmark(_hint, **)
  seconds = Float(ENV.fetch("SECS", 4))
  clock = ->(which) { Process.clock_gettime(which) }
  begun = clock.(Process::CLOCK_MONOTONIC)
  rounds = []
  while rounds.size < 3 || clock.(Process::CLOCK_MONOTONIC) - begun < seconds
    before = clock.(Process::CLOCK_PROCESS_CPUTIME_ID)
    yield
    rounds << clock.(Process::CLOCK_PROCESS_CPUTIME_ID) - before
  end
  later = rounds.last((rounds.size + 1) / 2).sort
  warn "first #{rounds.first.round(4)}, median of the later half #{later[later.size / 2].round(5)}, #{rounds.size} rounds"
end
