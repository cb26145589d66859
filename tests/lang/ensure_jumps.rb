# Each jump through each kind of ensure clause: what runs, in which order, and what comes out.
def log(*a) = ($log << a.join(":"))

def run(name)
  $log = []
  r = begin
    yield.inspect
  rescue Exception => e
    "#{e.class} #{e.message}"
  end
  puts "#{name}: #{r} [#{$log.join(" ")}] #{$!.inspect}"
end

def nested(how)
  [1, 2].each do |i|
    log :block, i
    n = 0
    while (n += 1) < 4
      begin
        begin
          begin
            log :body, n
            case how
            when :return then return :returned
            when :break then break
            when :next then next
            when :redo then (log :again; redo) if n == 1 && ($again = !$again)
            when :raise then raise "out"
            when :throw then throw :out, :thrown
            when :retry then raise IOError, "try" if n == 1 && ($log.count("body:1") < 3)
            end
            log :end
          ensure
            log :inner, n, $!.class
          end
          log :middle_body
        rescue IOError
          log :rescued, $!.message
          retry
        ensure
          log :middle, n
          log :long, "a clause that is too long to be copied", "a clause that is too long to be copied", "a clause that is too long to be copied", "a clause that is too long to be copied", "a clause that is too long"
        end
      ensure
        log :outer, n
      end
      log :after
    end
    log :loop_over
  end
  :normal
ensure
  log :method, $!.class
end

%i[normal return break next redo raise retry].each { |how| run(how) { nested(how) } }
run(:throw) { catch(:out) { nested(:throw); :not } }
run("break value") { [1, 2].each { |i| begin; break i * 10; ensure; log :e, i; end } }
run("next value") { [1, 2].map { |i| begin; next i * 10; ensure; log :e, i; end } }
run("while value") { n = 0; while true; begin; begin; break (n += 1) * 7; ensure; log :in, n; end; ensure; log :out, n; end; end }
run("lambda") { [->(x) { begin; return x + 1; ensure; log :l; end }.(1), ->(x) { begin; begin; next x; ensure; log 1; end; ensure; log 2; end }.(3)] }
run("proc return") { def pr = [1].each { |x| begin; [2].each { |y| begin; return [x, y]; ensure; log :i; end }; ensure; log :o; end }; pr }

# A clause that leaves, too, wins.
def overriding
  begin
    return 1
  ensure
    return 2
  end
end
run("overriding") { overriding }
def swallowing
  begin
    raise "lost"
  ensure
    return 3
  end
end
run("swallowing") { swallowing }
run("break in clause") { [1].each { while true; begin; raise "lost"; ensure; break; end; end } }
run("next in clause") { [1, 2].map { |x| begin; raise "lost"; ensure; next x + 5; end } }
def replaced
  yield
ensure
  raise ArgumentError, "second" if $!
end
run("raise in clause") { replaced { raise "first" } }
run("cause") { begin; replaced { raise "first" }; rescue => e; e.cause.message; end }

# Clauses in clauses, with jumps in and through them.
def in_clauses(how)
  begin
    log :a
    return :a if how == :a
  ensure
    begin
      log :b
      return :b if how == :b
    ensure
      begin
        log :c
        raise "c" if how == :c
      rescue => e
        log :rescued, e.message
        return :c
      ensure
        log :d
      end
      log :e
    end
    log :f
  end
  :end
end
%i[none a b c].each { |how| run("in clauses #{how}") { in_clauses(how) } }

# A value is what it was when the jump began.
def kept
  x = 1
  return x
ensure
  x = 2
end
run("kept") { kept }
def kept_value
  x = 1
  y = begin
    x
  ensure
    x = 5
  end
  [x, y]
end
run("kept value") { kept_value }

# $! inside and after.
def errors
  out = [$!]
  begin
    begin
      raise "one"
    rescue
      out << $!.message
      begin
        return out
      ensure
        out << $!.message
      end
    end
  ensure
    out << $!
  end
end
run("errors") { errors }

# Jumps don't ask what a program has made of numbers.
class Integer
  alias old_eq ==
  def ==(o) = false
end
two = ->(how) { while true; begin; begin; break :b if how; return :r; ensure; $log << "i"; end; ensure; $log << "o"; end; end }
three = [two.(true), two.(false)]
class Integer
  alias == old_eq
end
p three

# Class bodies, defs, for, until, modifiers, loops with conditions in the way.
run("for") { for i in 1..3; begin; next if i == 1; break i if i == 2; ensure; log i; end; end }
run("until") { i = 0; until i >= 3; begin; i += 1; next if i == 2; log :b, i; ensure; log :e, i; end; end; i }
run("begin while") { i = 0; begin; begin; i += 1; next if i < 3; ensure; log i; end; end while i < 5; i }
run("redo in block") { n = 0; [1, 2].map { |x| begin; n += 1; redo if n == 1; x * n; ensure; log n; end } }
class Body
  begin
    X = 1
  ensure
    Y = X + 1
  end
end
p Body::Y
run("else") { begin; log 1; rescue; log 2; else; log 3; :else_value; ensure; log 4; end }
run("define_method") { Class.new { define_method(:m) { begin; return 1; ensure; $log << "dm"; end } }.new.m }
run("eval") { eval("begin; [1].each { |x| begin; break x; ensure; log :ev; end }; ensure; log :outer; end") }
run("orphan") { pr = proc { begin; return 1; ensure; log :orphan; end }; Thread.new { begin; pr.call; rescue LocalJumpError => e; e.reason; end }.value }

# Lines of what is raised in and after clauses, and seen by traces.
def lines
  begin
    return 1
  ensure
    raise "here"
  end
end
begin
  lines
rescue => e
  p e.backtrace[0][/:(\d+):/, 1].to_i - method(:lines).source_location[1]
end
def traced
  [1].each do
    begin
      return 5
    ensure
      1 + 1
    end
  end
end
seen = []
from = method(:traced).source_location[1]
TracePoint.new(:line) { |t| seen << t.lineno - from if t.path == __FILE__ && t.method_id == :traced }.enable { traced }
p seen

# Deep: as many clauses as instructions need, not twice as many for each level.
s = "1"
14.times { s = "begin; 1; ensure; #{s}; end" }
p eval(s)
s = "$log << 1; return 7"
30.times { |i| s = "begin; #{s}; ensure; $log << #{i}; end" }
$log = []
p eval("->{ #{s} }").call, $log.size
s = "break 8"
30.times { |i| s = "while true; begin; #{s}; ensure; $log << begin; #{i}; ensure; 2; end; end; end; break 8" }
$log = []
p eval("while true; #{s}; end"), $log.size
