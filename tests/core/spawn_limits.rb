# Limits of resources for a child alone: `rlimit_` options.
before = Process.getrlimit(:NOFILE)
shell = ["/bin/sh", "-c", "ulimit -n; ulimit -Hn; ulimit -c"]
system(*shell, rlimit_nofile: [40, 60], rlimit_core: 0)
system(*shell, "rlimit_nofile": 50, rlimit_core: [0, 0])
puts IO.popen([*shell, rlimit_nofile: 44, rlimit_core: 0], &:read)
pid = fork { exec(*shell, rlimit_nofile: [41, 42], rlimit_core: 0) }
Process.wait(pid)
p Process.getrlimit(:NOFILE) == before

def try
  system("/bin/true", **yield)
rescue => e
  puts "#{e.class}: #{e.message}"
else
  puts "no error"
end
try { {rlimit_none: 1} }
try { {rlimit_NOFILE: 1} }
try { {rlimit_core: []} }
try { {rlimit_core: [1, 2, 3]} }
try { {rlimit_core: "x"} }
try { {rlimit_core: Object.new} }
try { {rlimit_core: :INFINITE} }
try { {rlimit_nofile: [100, 50]} }
