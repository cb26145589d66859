# A method that the machine lacks says so when it is asked for, and when it is called.
p Process.respond_to?(:fork), respond_to?(:fork, true), Process.method(:fork).arity
begin
  Process.fork
rescue NotImplementedError => e
  puts e.message
end
p RUBY_VERSION
