# A method that the machine lacks says so when it is asked for, and when it is called.
p Process::Sys.respond_to?(:issetugid), Process::Sys.method(:issetugid).arity
begin
  Process::Sys.issetugid
rescue NotImplementedError => e
  puts e.message
end
p RUBY_VERSION
