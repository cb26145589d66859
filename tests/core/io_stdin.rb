# Standard input is empty in the test run.
p $stdin.read
p $stdin.gets
p gets
p $stdin.eof?
p $stdin.each_line.to_a
p STDIN.fileno
begin; $stdin.readline; rescue EOFError => e; p e.message; end
begin; readline; rescue EOFError => e; p e.message; end
p readlines, ARGF.class.to_s, $stdin.lineno
