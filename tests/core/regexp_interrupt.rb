# A match that would take longer than anybody's life can be stopped: by time limits, by other threads, with its VM.

require "timeout"

# The reference in the group keeps failures from being remembered; each character more doubles the time.
SLOW = /\A((a|a)+\2?)*b\z/
TEXT = "a" * 120 + "cb"

def told
  yield
rescue Exception => e
  [e.class, e.message]
end

p told { Timeout.timeout(0.02) { SLOW.match(TEXT) } }
p told { Regexp.new(SLOW.source, timeout: 0.02).match?(TEXT) }

begin
  Regexp.timeout = 0.02
  p told { SLOW =~ TEXT }
  p told { TEXT.sub(SLOW, "") }
  p told { TEXT.scan(SLOW) }
  p told { TEXT.rindex(SLOW) }
  p told { TEXT.split(SLOW) }
  p told { TEXT[SLOW] }
  p told { TEXT.start_with?(/(?:(a|a)+\1?)*b/) }
  # Another way to take long: no backtracking into what matched, but all of the text for each beginning.
  p told { ("ab" * 400_000 + "cd") =~ /(?:a(?=.*(c))b)*+d\1\1/ }
ensure
  Regexp.timeout = nil
end

started = Queue.new
t = Thread.new { started << true; SLOW.match(TEXT) }
started.pop
t.kill
p t.join.value

t = Thread.new { told { started << true; SLOW.match(TEXT) } }
started.pop
t.raise(IOError, "enough")
p t.value

# Other threads run meanwhile, and may change the String: the match sees what there was.
s = +"aaaaaaaaaaaaaaaaaaaaaaab"
changed = false
t = Thread.new { Thread.pass; s.replace("x" * 100); changed = true }
m = /\A((a|a)+\2?)*b\z/.match(s)
t.join
p m[0], m.string, changed

# Nothing stays behind.
p SLOW.match("aab")[0]
# Needs the standard library.
