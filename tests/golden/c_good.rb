puts "never run"
