# What suites of text gems stumbled over in the standard library.
require "stringio"
require "date"
require "rbconfig"

# What is written at the end of a String brings its encoding along.
text = (+"").force_encoding("US-ASCII")
io = StringIO.new(text)
io << "plain" << "\u3042"
p text, text.encoding
bytes = (+"").b
StringIO.new(bytes) << "\u3042"
p bytes.encoding == Encoding::BINARY, bytes.bytesize

# A byte order mark is skipped when the mode, or the encoding, says so.
p StringIO.new("\ufeffabc", "r:BOM|utf-8").read
p StringIO.new("\ufeffabc", encoding: "bom|utf-8").read
p StringIO.new("\ufeffabc", "r:utf-8").read.size

# Fractions in Floats are rounded to nanoseconds.
p DateTime.new(2018, 1, 14, 22, 25, 19.1), DateTime.new(2001, 2, 3.5), DateTime.new(2001, 2, 3, 4.5)
p DateTime.new(2018, 1, 14, 22, 25, 19.1) == DateTime.parse("2018-01-14T22:25:19.1")

# A file's unknown encoding is reported at the line that opens it.
$stderr = StringIO.new
File.open(__FILE__, encoding: "nonexistent") {}
puts $stderr.string[/\d+: warning.*/]
$stderr = STDERR
