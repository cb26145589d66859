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
# Nothing is wrong with it; what is said depends on the cores there are.
puts "nothing: #{%w[one_vm cores_busy none].include?(code_of("nothing"))}"
