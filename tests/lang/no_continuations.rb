begin
  require "continuation"
rescue LoadError => e
  puts e.message
end
p defined?(Continuation), respond_to?(:callcc, true)
p $LOADED_FEATURES.grep(/continuation/)
