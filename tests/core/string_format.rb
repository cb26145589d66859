p "%d|%5d|%-5d|%05d|%+d|% d|%x|%X|%#x|%o|%b|%#b|%08b" % [1, 2, 3, 4, 5, 6, 255, 255, 255, 8, 5, 5, 5]
p "%s|%10s|%-10s|%.2s|%c|%c|%%|%p" % ["s", "right", "left", "cut", "c", 65, nil]
p "%f|%.2f|%10.3f|%-10.1f|%e|%g|%g" % [1.0, 2.345, 3.14159, 1.25, 12345.678, 0.0001, 1e20]
p format("%<a>d %{b} %<c>.2f", a: 1, b: "x", c: 2.0)
p format("%2$s %1$s", "a", "b")
p format("%*d|%-*d", 5, 1, 5, 2)
p format("%x %o %b", -255, -8, -5)
p format("%+x", -255)
p format("%.3d", 5)
p format("%s", :sym)
p format("%s %s", [1, 2], nil)
p format("%d", 3.99)
p format("%d", "0x1f".hex)
p format("%5.1f%%", 99.55)
p format("%s", 10**30)
p format("%d", 2**70)
p format("%.10g", 1 / 3.0)
p format("%-5s|", :a)
p format("%05s|", "a")
p format("%e", 0)
p format("%+.1e", 12345)
begin; format("%d", "x"); rescue ArgumentError => e; p e.message; end
begin; format("%d %d", 1); rescue ArgumentError => e; p e.message; end
begin; format("%<a>d", { b: 1 }); rescue KeyError => e; p e.message; end
begin; format("%z", 1); rescue ArgumentError => e; p e.message; end
begin; format("%d", nil); rescue TypeError => e; p e.message; end
p format("%d", "12")
p format("%f", "1.5")
p format("%d", 1r)
p format("%.2f", 1r / 3)
p format("%s", "")
p format("%08.3f", -1.5)
p format("%+05d", 3)
p format("% 05d", 3)
p format("%#o", 8)
p format("%.0f", 0.5)
p format("%.0f", 1.5)
p format("%5s%-5s|", "é", "é")
