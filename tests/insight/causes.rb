# Without --gc=stress.
# Each program in planted/ has one thing that holds it up, after which it is called; the report has to name it.
EXE = File.readlink("/proc/self/exe")

def said_of(name)
  r, w = IO.pipe
  pid = spawn({ "RUBY_MAX_CPU" => "2" }, EXE, "--report", "planted/#{name}.rb", out: w, err: w)
  w.close
  said = r.read
  Process.wait(pid)
  said
end

def code_of(name)
  said = said_of(name)
  said[/^bottleneck \[(\w+)\]/, 1] || said
end

def sentence_of(name)
  said = said_of(name)
  said[/^bottleneck \[\w+\]: (.*)/, 1] || said
end

# Other tests load the cores meanwhile, which is a cause, too: what is right in one of eight runs is.
def first_right(name)
  found = nil
  8.times { yield(found = code_of(name)) and break }
  found
end

%w[single_sender setup_in_job large_messages giant_job too_few_in_flight lock collection more_vms_than_cores].each do |name|
  puts "#{name}: #{first_right(name) { |found| found == name }}"
end
# The same in pools, with Ractors, with threads of one VM, and in programs that look like something else.
{
  giant_job_in_pool: :giant_job, giant_job_that_sleeps: :giant_job, giant_job_among_few: :giant_job, giant_job_ractor: :giant_job, one_by_one_in_pool: :too_few_in_flight,
  slow_source_of_pool: :single_sender, single_sender_ractor: :single_sender, stages: :single_sender, large_messages_in_pool: :large_messages, large_messages_ractor: :large_messages,
  collection_in_pool: :collection, lock_in_pool: :lock, loading_in_pool: :setup_in_job, setup_by_library: :setup_in_job, in_turns: :too_few_in_flight, threads: :threads_in_one_vm, waits_with_garbage: :outside,
  slow_receiver: :slow_receiver, slow_receiver_main: :slow_receiver, giant_job_nearly_all: :giant_job, ticker: :outside, reader_of_pipe: :outside, asleep: :outside, queues: :outside, one_after_the_other: :one_vm,
  computes_then_sleeps: :outside, lock_for_a_moment: :outside, lock_of_many_for_a_moment: :outside, sender_for_a_moment: :outside, file_lock: :outside, file_lock_while_computing: :outside, serial_first: :one_vm, serial_last: :one_vm,
  ping_pong: :too_few_in_flight, ring: :too_few_in_flight, ring_of_four: :too_few_in_flight, barrier: :too_few_in_flight,
  slow_lazy_source_of_pool: :single_sender, slow_taker_of_pool: :single_sender, slow_receiver_of_main: :slow_receiver, only_loads: :loading, asleep_beside_pool: :outside,
  pairs_with_a_pause: :outside, serial_between: :one_vm, sleeps_as_others_have_ended: :giant_job, sleeps_as_others_have_ended_few: :giant_job, slow_source_of_stages: :single_sender,
  ticker_of_stages: :outside
}.each do |name, code|
  found = first_right(name) { |one| one.to_sym == code }
  puts "#{name}: #{found.to_sym == code ? "right" : found}"
end
puts "many_idle: #{first_right("many_idle") { |found| found != "more_vms_than_cores" } == "more_vms_than_cores" ? "wrong" : "right"}"
# The pool's own thread is none of the program's, and waits for nothing while its owner computes.
%w[slow_lazy_source_of_pool slow_taker_of_pool].each do |name|
  # (Once it may look so, where other tests have the cores.)
  wrong = 4.times.map { code_of(name) }.select { |code| %w[threads_in_one_vm too_few_in_flight].include?(code) }
  puts "#{name}: #{wrong.drop(1)}"
end
# What the sentences say besides.
def says(name, what)
  said = nil
  8.times { return "right" if (said = sentence_of(name)).match?(what) }
  said
end
{
  barrier: /at most 4 messages were under way/, ping_pong: /at most 1 message was under way/, ring_of_four: /what VM `main` sent .* through `read`, `parse`, `store`,/, file_lock: /waiting for sockets, files or processes/,
  main_selects: /\A(?!.*`main`).*cores were busy/,
  serial_first: /^for the first \d+% of the run \(.* m?s\) only VM `main` worked/, serial_last: /^for the last \d+% .* only VM `main` worked/,
  serial_between: /^for \d+% of the run \(.* m?s\) only VM `main` worked/, pairs_with_a_pause: /asleep.* and nothing ran for \d+% of the run/,
  slow_source_of_stages: /in the end for channel `parsed`, whose sender `read` was busy/
}.each { |name, what| puts "#{name}: #{says(name, what)}" }
# Nothing is wrong with it; what is said depends on the cores there are.
puts "nothing: #{%w[one_vm cores_busy none].include?(code_of("nothing"))}"
