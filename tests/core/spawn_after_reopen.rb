# Standard streams that were pointed elsewhere stand for their numbers where a child's are named.
require "tempfile"
one, two = %w[one two].map { |text| Tempfile.new("spawned").tap { |f| f.write(text + "\n"); f.close } }
run = ->(*args, **options) { Process.wait(spawn(*args, **options)) }

STDIN.reopen(one.path)
read, write = IO.pipe
saved, errors = STDOUT.dup, STDERR.dup
STDOUT.reopen(write)
run.("cat")
run.("cat", STDIN => two.path)
run.("echo here")
run.("echo there", STDOUT => saved)
run.("echo there, too", out: saved)
run.("echo errors here >&2", STDERR => STDOUT)
run.("echo both; echo both >&2", [STDOUT, STDERR] => write)
STDERR.reopen(write)
run.("echo in errors >&2")
run.("echo away >&2", STDERR => File::NULL)
run.("echo by the child >&2", STDOUT => write, STDERR => [:child, STDOUT])
STDERR.reopen(errors)
STDOUT.reopen(saved)
write.close
puts read.read
