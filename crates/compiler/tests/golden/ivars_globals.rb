@a = 1
@b = @a
$c = @b
$stdout = $stderr
$! = nil
x = $!
@@d = x
y = @@d
