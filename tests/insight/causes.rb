# Without --gc=stress.
# Each program in planted/ has one thing that holds it up, after which it is called; the report has to name it.
EXE = File.readlink("/proc/self/exe")

def code_of(name)
  r, w = IO.pipe
  pid = spawn({ "RUBY_MAX_CPU" => "2" }, EXE, "--report", "planted/#{name}.rb", out: w, err: w)
  w.close
  said = r.read
  Process.wait(pid)
  said[/^bottleneck \[(\w+)\]/, 1] || said
end

%w[single_sender setup_in_job large_messages giant_job too_few_in_flight lock collection more_vms_than_cores].each do |name|
  puts "#{name}: #{code_of(name)}"
end
# The same in pools, with Ractors, with threads of one VM, and in programs that look like something else.
{
  giant_job_in_pool: :giant_job, giant_job_that_sleeps: :giant_job, giant_job_among_few: :giant_job, giant_job_ractor: :giant_job, one_by_one_in_pool: :too_few_in_flight,
  slow_source_of_pool: :single_sender, single_sender_ractor: :single_sender, stages: :single_sender, large_messages_in_pool: :large_messages, large_messages_ractor: :large_messages,
  collection_in_pool: :collection, lock_in_pool: :lock, loading_in_pool: :setup_in_job, in_turns: :too_few_in_flight, threads: :threads_in_one_vm, waits_with_garbage: :outside,
  slow_receiver: :slow_receiver, slow_receiver_main: :slow_receiver, giant_job_nearly_all: :giant_job, ticker: :outside, reader_of_pipe: :outside
}.each do |name, code|
  found = code_of(name)
  puts "#{name}: #{found.to_sym == code ? "right" : found}"
end
puts "many_idle: #{code_of("many_idle") == "more_vms_than_cores" ? "wrong" : "right"}"
# Nothing is wrong with it; what is said depends on the cores there are.
puts "nothing: #{%w[one_vm cores_busy none].include?(code_of("nothing"))}"
