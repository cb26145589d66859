# Only standard output and the exit status are compared here: an uncaught exception ends with 1.
at_exit { puts "at_exit sees #{$!.class}" }
def boom = raise(ArgumentError, "uncaught")
puts "before"
boom
puts "after"
