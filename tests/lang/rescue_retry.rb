n = 0
begin
  n += 1
  raise "fail #{n}" if n < 3
  puts "ok after #{n}"
rescue
  retry
end
def which
  yield
rescue ZeroDivisionError, TypeError => e
  "#{e.class}: #{e.message}"
rescue ArgumentError
  "arg #{$!.message}"
rescue => e
  "std #{e.message}"
else
  "fine"
end
puts which { 1 / 0 }
puts which { Integer(nil) }
puts which { Integer("zz") }
puts which { raise "boom" }
puts which { 1 }
ERRS = [KeyError, IndexError]
begin
  {}.fetch(:x)
rescue *ERRS => e
  p e.class
end
x = Integer("no") rescue 7
p x
y = (raise "q" rescue "r")
p y
class Boss
  def self.===(e) = e.message.start_with?("boss")
end
begin
  raise "boss is here"
rescue Boss => e
  puts e.message
end
begin
  raise Class.new(StandardError), "anon"
rescue => e
  p e.message
end
p $!
def m
  raise "first"
rescue => e
  begin
    raise "second"
  rescue => f
    [e.message, f.message, f.cause.equal?(e), $!.message]
  end
end
p m
begin
  begin
    raise TypeError, "inner"
  rescue => e
    raise
  end
rescue TypeError => e
  p e.message
end
class Foo; attr_accessor :err; end
foo = Foo.new
begin
  raise "into attr"
rescue => foo.err
end
p foo.err.message
begin
  raise "no cause", cause: nil
rescue => e
  p e.cause
end
