# An exception's own `set_backtrace` is told of a raise; what it raises itself goes no further, and is told to nobody.
class Told < StandardError
  def set_backtrace(lines)
    p [:told, lines.class]
    super
  end
end
begin
  raise Told
rescue => e
  p e.backtrace.size
end

class Again < StandardError
  def set_backtrace(_lines)
    p :again
    raise Again, "again"
  end
end
begin
  raise Again, "first"
rescue => e
  p e, e.cause
end

class Exception
  def set_backtrace(*) = raise("x")
end
begin
  raise "original"
rescue Exception => e
  p e
end
