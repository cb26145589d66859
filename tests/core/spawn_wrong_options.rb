# Options of spawn, system and IO.popen that make no sense; users and groups.
def t; yield; p :ok; rescue ArgumentError, TypeError => e; p e; end
t { IO.popen(["echo", "x", STDOUT=>STDOUT]) {} }
t { IO.popen(["cat", STDIN=>STDIN], "w") {} }
t { IO.popen(["cat", STDIN=>"/dev/null"], "r") { p it.read } }
t { IO.popen("cat", "r+") { |d| t { system("true", d=>STDOUT) }; t { system("true", STDOUT=>d) } } }
t { spawn("true", Process => 100) }
t { spawn("true", 1 => Process) }
t { spawn("true", 1 => nil) }
t { spawn("true", nil => 1) }
t { spawn("true", "x" => 1) }
t { spawn("true", :foo => 1) }
t { spawn("true", 1 => :foo) }
t { spawn("true", 1 => [:foo]) }
t { spawn("true", 1 => 3.5) }
t { spawn("true", -1 => 1) }
t { spawn("true", new_pgroup: true) }
t { system("true", uid: Process.uid, gid: Process.gid) }
t { system("true", uid: "root") }
t { system("true", uid: nil) }
t { system("true", uid: "nobody there") }
