def level3 = raise("deep")
def level2
  level3
ensure
  puts "ensure 2"
end
def level1
  level2
rescue TypeError
  puts "wrong"
else
  puts "else"
ensure
  puts "ensure 1"
end
begin
  level1
rescue => e
  puts e.message
  p e.backtrace.size >= 3, e.backtrace_locations.first.lineno, e.backtrace_locations.first.path == __FILE__
end
x = [1, 2, 3].each do |v|
  begin
    raise "odd" if v.odd?
    puts "even #{v}"
  rescue => e
    puts "#{e.message} #{v}"
    next
  ensure
    puts "done #{v}"
  end
  puts "end of #{v}"
end
p x
def in_block
  [1].each do |i|
    raise ArgumentError
  rescue ArgumentError => e
    return e.message
  ensure
    puts "block ensure"
  end
end
p in_block
begin
  begin
    raise "low"
  rescue
    raise TypeError, "high"
  end
rescue => e
  p [e.message, e.cause.message, e.cause.cause]
end
p (begin; Integer("z"); rescue; :r; else; :e; ensure; :n; end)
r = loop do
  raise StopIteration, "ends loop"
end
p r
begin
  raise Interrupt
rescue Interrupt => e
  p e.message, e.signo
end
begin
  raise SignalException, "SIGTERM"
rescue SignalException => e
  p e.message, e.signo
end
warn "not on stdout"
