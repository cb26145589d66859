# Aligns a directory of texts in three ways, and prints how long each took.
#
#   ./run examples/alignment/run.rb [-n WORKERS] [DIRECTORY]      (without one: 100 documents that it makes)
#
# alone     one document after the other
# ractors   a pipe Ractor that hands the documents to N others, which hand results to whoever selects: each document makes the aligner anew, as workers that get a message and nothing else do
# pool      RubyVM::Pool: each of its VMs makes the aligner once, takes small documents several at once, and is told which file to read instead of its text
require "tmpdir"
require_relative "aligner"

workers = nil
if ARGV[0] == "-n"
  ARGV.shift
  workers = Integer(ARGV.shift || abort("run.rb: -n needs a number"), exception: false) || abort("run.rb: -n needs a number")
end
workers ||= RubyVM::Pool::Processors.cores

def documents(directory) = Dir.glob(File.join(directory, "*.spans")).sort.map { |path| path.delete_suffix(".spans") }

def alone(bases)
  aligner = Aligner.new
  bases.map { |base| aligner.document(base) }
end

def ractors(bases, workers)
  pipe = Ractor.new { loop { Ractor.yield(Ractor.receive) } }
  crew = Array.new(workers) do
    Ractor.new(pipe) do |from|
      while (message = from.take)
        number, source, target, spans = message
        Ractor.yield([number, Aligner.new.align(source, target, spans)])
      end
    end
  end
  bases.each_with_index do |base, i|
    spans = File.readlines("#{base}.spans").map { |line| line.split.map(&:to_i) }
    pipe.send([i, File.read("#{base}.txt"), File.read("#{base}.new.txt"), spans])
  end
  results = []
  bases.size.times do
    _, (number, spans) = Ractor.select(*crew)
    results[number] = spans
  end
  workers.times { pipe.send(nil) }
  crew.each(&:join)
  results
end

def pool(bases, workers)
  RubyVM::Pool.open(size: workers, setup: -> { Aligner.new }) do |vms|
    results = vms.map(bases, progress: "aligning") { |base| RubyVM::Pool.local.document(base) }
    $report = vms.report
    results
  end
end

def timed(label)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  result = yield
  took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  $alone ||= took
  puts format("%-8s %7.2f s   %.2f times as fast as alone", label, took, $alone / took)
  result
end

Dir.mktmpdir do |made|
  directory = ARGV[0]
  unless directory
    require_relative "generate"
    Generate.into(directory = made, 100, 1)
  end
  bases = documents(directory)
  abort "run.rb: no documents in #{directory}" if bases.empty?
  puts "#{bases.size} documents, #{workers} workers"
  expected = timed("alone") { alone(bases) }
  [timed("ractors") { ractors(bases, workers) }, timed("pool") { pool(bases, workers) }].each { |got| abort "run.rb: the results differ" unless got == expected }
  found = expected.sum { |spans| spans.count { |span| span } }
  puts "#{found} of #{expected.sum(&:size)} spans found again", $report
end
