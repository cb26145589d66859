p Process.pid == $$
p Process.clock_gettime(Process::CLOCK_REALTIME).class
p Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond).class
p Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID).class
p Process.ppid.class
p(`echo out`)
p $?.class
p $?.exitstatus
p $?.success?
p system("exit 3")
p $?.exitstatus
p system("true")
p system("nonexistent_cmd_zz")
p(`printf 'a\nb'`.lines)
