# Counts words in many files with one master VM and N sealed worker VMs.
#
#   ./run examples/word_farm.rb [-n WORKERS] [-t ROWS] FILE...
#
# The master puts file names into one channel that all workers read: who is done first takes the next one, so nobody waits
# for the slowest file. Workers answer into a second channel; its messages carry pairs of a word and a number.
# Workers share nothing else, so each may keep whatever global state it likes (see word_worker.rb).

workers = 10
rows = 20
until ARGV.empty? || !ARGV[0].start_with?("-")
  option = ARGV.shift
  case option
  when "-n", "-t"
    number = Integer(ARGV.shift || abort("word_farm: #{option} needs a number"), exception: false)
    abort "word_farm: #{option} needs a number above zero" unless number && number > 0
    option == "-n" ? workers = number : rows = number
  when "--"
    break
  else
    abort "usage: word_farm.rb [-n WORKERS] [-t ROWS] FILE..."
  end
end
abort "usage: word_farm.rb [-n WORKERS] [-t ROWS] FILE..." if ARGV.empty?

jobs = RubyVM::Channel.new
answers = RubyVM::Channel.new

vms = Array.new(workers) do |i|
  vm = RubyVM.new("worker-#{i}", File.join(__dir__, "word_worker.rb"))
  vm.start(i, jobs, answers)
  vm
end

ARGV.each { |path| jobs << path }
workers.times { jobs << nil }

totals = Hash.new(0)
lines = 0
failed = []
progress = $stderr.tty?
ARGV.size.times do |done|
  kind, path, counts, line_count = answers.recv
  if kind == :counted
    counts.each { |word, n| totals[word] += n }
    lines += line_count
  else
    failed << "#{path}: #{counts}"
  end
  $stderr.print "\r#{done + 1}/#{ARGV.size} files" if progress
end
$stderr.print "\r\e[K" if progress
vms.each(&:join)

failed.sort.each { |message| warn "word_farm: #{message}" }
puts "#{ARGV.size - failed.size} files, #{lines} lines, #{totals.values.sum} words, #{totals.size} different"
top = totals.sort_by { |word, n| [-n, word] }.first(rows)
width = top.map { |word, _| word.size }.max || 0
top.each { |word, n| puts "#{word.ljust(width)} #{n.to_s.rjust(8)}" }
exit 1 unless failed.empty?
