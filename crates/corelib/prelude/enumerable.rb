# Prelude: parts of the core library written in Ruby.
