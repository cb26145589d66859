# What stands behind a time is its zone, be it any word.
require "date"
["10:20 am Jan 5", "10:20 jan 5", "10:20 ad 2000-1-2", "10:20 ce", "10:20 b.c. 2000-1-2", "10:20 bce 2000-1-2", "10:20t", "10:20 t 5",
 "10:20:30 pm bc 2000-1-2", "10:20 a.d. 5", "10:20 b.c.e. 3", "3pm bc 2000-1-2", "10:20 est bc 2000-1-2", "2000-1-2 10:20 bc", "10h bc",
 "bc 10:20", "10:20 sat", "10:20 bcx 2000-1-2", "10:20 sat 2001-01-02 bc", "10:20 pm, Jan 5th 2001", "10:20 January 5th 2001 bc", "10:20 5",
 "10:20 est 5", "5 10:20", "10:20am 32", "2001-02-03 10:20 4"].each { |s| puts "#{s}: #{Date._parse(s)}" }
