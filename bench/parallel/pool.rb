# A pool of two VMs beside two processes that do half of the jobs each and the same work alone: wall time of whole programs, so start, set-up and end are included.
#   pool.rb [ROUNDS [KERNEL...]]
# Prints `pool_gain_KERNEL`, `processes_gain_KERNEL` (time alone / time of two, medians of ROUNDS interleaved rounds) and `pool_share_KERNEL`, the first over the second. `tiny` has jobs of a
# microsecond or so, `alignment` are documents of examples/alignment, `uneven` has some jobs that are long: there the processes get what chance gives them. Under a Ruby without RubyVM::Pool: the processes' gain alone.

require "rbconfig"
require "tmpdir"
require_relative "kernel"

# What examples/alignment does, with documents in a directory that the comparison makes.
module Documents
  def self.make(directory)
    require_relative "../../examples/alignment/generate"
    Generate.into(directory, KERNELS.fetch(:alignment)[0], 1)
    ENV["DOCUMENTS"] = directory
  end

  # The sum of the places where the spans of a document are found again.
  def self.align(number)
    require_relative "../../examples/alignment/aligner" unless defined?(Aligner)
    $bases ||= Dir.glob(File.join(ENV.fetch("DOCUMENTS"), "*.spans")).sort.map { |path| path.delete_suffix(".spans") }
    ($aligner ||= Aligner.new).document($bases.fetch(number)).compact.flatten.sum
  end
end

# Jobs and what each of them does; the number keeps one core busy for a second.
KERNELS = {
  call: [6000, ->(n) { Work.call(n) }],
  string: [1800, ->(n) { Work.string(n) }],
  alloc: [5000, ->(n) { Work.alloc(n) }],
  page: [2000, ->(n) { Work.page(n) }],
  tiny: [4_000_000, ->(n) { n.to_s.sum + n.digits.sum }],
  alignment: [500, ->(n) { Documents.align(n) }],
  uneven: [2500, ->(n) { Work.work("call", n, n % 100 == 99 ? 60 : 2) }],
}.freeze

def pool(name)
  jobs, work = KERNELS.fetch(name)
  RubyVM::Pool.open(size: 2) { |pool| pool.map(0...jobs, &work).sum }
end

def part(name, first, last) = (first...last).sum(&KERNELS.fetch(name)[1])

case ARGV[0]
when "--pool" then puts pool(ARGV[1].to_sym)
when "--part" then puts part(ARGV[1].to_sym, Integer(ARGV[2]), Integer(ARGV[3]))
else
  rounds = Integer(ARGV[0] || 3)
  names = ARGV.size > 1 ? ARGV.drop(1).map(&:to_sym) : KERNELS.keys
  pin = system("taskset", "-c", "1", "true", out: File::NULL, err: File::NULL)
  # The processes of the comparison stay on a core each; the runtime spreads its VMs itself.
  start = lambda do |core, *arguments|
    IO.popen([*(pin && core ? ["taskset", "-c", core.to_s] : []), RbConfig.ruby, __FILE__, *arguments.map(&:to_s)])
  end
  timed = lambda do |*commands|
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    sums = commands.map { |command| start.call(*command) }.map { |io| io.read.tap { io.close } }
    raise "a program failed" unless sums.all? { |sum| sum.match?(/\A\d+\n\z/) }
    [Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun, sums.sum(&:to_i)]
  end
  median = ->(list) { list.sort[list.size / 2] }
  documents = names.include?(:alignment) && Dir.mktmpdir.tap { |directory| Documents.make(directory) }
  names.each do |name|
    jobs = KERNELS.fetch(name)[0]
    ways = {
      alone: -> { timed.call([nil, "--part", name, 0, jobs]) },
      processes: -> { timed.call([0, "--part", name, 0, jobs / 2], [1, "--part", name, jobs / 2, jobs]) },
    }
    ways[:pool] = -> { timed.call([nil, "--pool", name]) } if defined?(RubyVM::Pool)
    times = Hash.new { |all, way| all[way] = [] }
    sums = []
    rounds.times do |round|
      # Neighbours in time swap places from round to round: a core's speed drifts.
      (round.even? ? ways.keys : ways.keys.reverse).each do |way|
        seconds, sum = ways[way].call
        times[way] << seconds
        sums << sum
      end
    end
    raise "the results differ: #{sums.uniq}" unless sums.uniq.size == 1
    gain = ->(way) { median.call(times[:alone].zip(times[way]).map { |alone, two| alone / two }) }
    puts format("processes_gain_%s %.3f x", name, gain.call(:processes))
    next unless ways[:pool]
    puts format("pool_gain_%s %.3f x", name, gain.call(:pool))
    puts format("pool_share_%s %.3f x", name, median.call(times[:processes].zip(times[:pool]).map { |processes, two| processes / two }))
    $stdout.flush
  end
  FileUtils.remove_entry(documents) if documents
end
