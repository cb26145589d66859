p 1
BEGIN { p 0 }
END { p 2 }
x = 1
END { p x }
