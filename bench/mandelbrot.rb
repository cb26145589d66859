# The Mandelbrot set on a square grid, Float arithmetic in a tight while loop.
# Prints the number of members, a checksum over the packed rows and a coarse picture.

LIMIT = 50

def escapes_after(cr, ci)
  zr = zi = 0.0
  i = 0
  while i < LIMIT
    r2 = zr * zr
    i2 = zi * zi
    return i if r2 + i2 > 4.0
    zi = 2.0 * zr * zi + ci
    zr = r2 - i2 + cr
    i += 1
  end
  LIMIT
end

def picture(size)
  members = 0
  sum = 0
  rows = []
  size.times do |y|
    ci = 2.0 * y / size - 1.0
    row = +""
    bits = 0
    count = 0
    size.times do |x|
      cr = 2.0 * x / size - 1.5
      n = escapes_after(cr, ci)
      bits <<= 1
      if n == LIMIT
        members += 1
        bits |= 1
      end
      count += 1
      if count == 8
        sum = (sum * 31 + bits) % 1_000_000_007
        bits = count = 0
      end
      row << " .:-=+*%@#"[n * 9 / LIMIT] if x % 8 == 0
    end
    sum = (sum * 31 + bits) % 1_000_000_007
    rows << row if y % 16 == 0
  end
  [members, sum, rows]
end

size = (ARGV[0] || 720).to_i
members, sum, rows = picture(size)
puts "#{size}x#{size}: #{members} members, checksum #{sum}"
puts rows
