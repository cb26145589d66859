# What a format may not leave open (as of 3.4).
["%", "%\n", "a%\0", " % ", "hello %1$", "%.\n3f", "%5"].each do |f|
  p((format(f, 1) rescue [$!.class, $!.message]))
end
p format("%%|%5.1f|%-3d|", 1.25, 3)
$VERBOSE = true
$stderr = $stdout
format("%d", 1, 2)
format("%1$d", 1, 2)
format("%{a}", a: 1, b: 2)
$DEBUG = true
p((format("%d", 1, 2) rescue $!.message))
$DEBUG = false
p(("x %s" % "y".encode("UTF-16LE") rescue $!.class))
p Float("0x0.8"), Float("0x1.8p1"), Float("-0xA.8")
nan = Float::NAN
p Float(Class.new { define_method(:to_f) { nan } }.new).equal?(nan)
