# A program that is loaded in a second VM is not read, parsed or compiled again.
program = File.join(__dir__, "support/code/program.rb")
run = lambda do |i|
  answers = RubyVM::Channel.new
  RubyVM.new("vm #{i}", program).start(answers, i).join
  answers.recv
end
since = ->(before) { RubyVM.stat.filter_map { |key, n| [key, n - before[key]] if key.start_with?("code_") }.to_h }

start = RubyVM.stat
p run[0]
p since[start]

start = RubyVM.stat
p 100.times.map { |i| run[i] }.tally
p since[start]

# All at once.
start = RubyVM.stat
answers = RubyVM::Channel.new
vms = 100.times.map { |i| RubyVM.new("vm #{i}", program).start(answers, i) }
p 100.times.sum { answers.recv }
vms.each(&:join)
p since[start]

# The text of a file that changes is read anew,
# even when size and time stay the same.
require "tmpdir"
Dir.mktmpdir do |dir|
  copy = File.join(dir, "changing.rb")
  values = 3.times.map do |i|
    File.write(copy, "RubyVM::ARGV[0] << #{i}\n")
    File.utime(0, 0, copy)
    c = RubyVM::Channel.new
    RubyVM.new("changing", copy).start(c).join
    c.recv
  end
  p values
  start = RubyVM.stat
  2.times { |i| File.write(copy, "$changed = #{i}\n"); load copy; print $changed, "\n" }
  p since[start].slice(:code_files_read, :code_files_compiled)
end

p RubyVM.stat(:code_cache_hits).class
h = {}
p RubyVM.stat(h).equal?(h), h.keys.grep(/\Acode_/).size
[:nothing, 1].each { |w| RubyVM.stat(w) rescue p $!.class, $!.message }
# Needs the standard library.
