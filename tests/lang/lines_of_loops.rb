# A condition in parentheses is a statement of its own: its line is seen each time it is asked.
require "coverage"
program = <<'RUBY'
a = [1, 2]
while (x = a.shift)
  x += 1
end
i = 0
while i < 2 && (i < 3)
  i += 1
end
until (i -= 1; i < 0)
  i + 1
end
while i < 3
  i += 1
end
i -= 1 while (i > 0)
if (i == 0)
  i += 1
end
while ((i > 4))
end
RUBY
path = "/tmp/lines_of_loops_#{$$}.rb"
File.write(path, program)
seen = Hash.new(0)
TracePoint.new(:line) { |t| seen[t.lineno] += 1 if t.path == path }.enable { load path }
p seen
Coverage.start(lines: true)
load path
p Coverage.result[path]
File.delete(path)
