# A worker of word_farm.rb: takes file names until it gets nil, answers with the words in each file.
# It counts in a global on purpose: a global belongs to one VM, and no other worker sees this one.

number, jobs, answers = RubyVM::ARGV
$counts = nil
$files_done = 0

while (path = jobs.recv)
  begin
    $counts = Hash.new(0)
    lines = 0
    File.foreach(path) do |line|
      lines += 1
      line.scrub.downcase.scan(/[[:alpha:]]+(?:'[[:alpha:]]+)?/) { |word| $counts[word] += 1 }
    end
    $files_done += 1
    answers << [:counted, path, $counts.to_a, lines]
  rescue SystemCallError, IOError => e
    answers << [:failed, path, e.message, number]
  end
end
