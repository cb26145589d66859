# A `backtrace` of the program's own that is none: who asks for the text is told, what ends a thread or program is reported all the same.
class Odd < StandardError
  def backtrace = 3
end
begin
  raise Odd, "x"
rescue => e
  p((e.full_message rescue $!), ($@ rescue $!), e.message)
end
report = IO.popen([File.readlink("/proc/self/exe"), "-e", 'class Odd < StandardError; def backtrace = 3; end; Thread.new { raise Odd, "in a thread" }.join rescue p $!; raise Odd, "last"', err: %i[child out]], &:read)
p report.include?("in a thread (Odd)"), report.lines.last
