# Time#iso8601 of years of any number of digits, and below zero.
[0, 1, 99, 999, 1000, 9999, 10_000, 99_999, 123_456, 1_000_000, 255_999, 256_000].each { |y| puts Time.utc(y, 2, 3, 4, 5, 6).iso8601 }
[-1, -10_000].each { |y| puts Time.utc(y, 2, 3, 4, 5, 6).iso8601 }
puts Time.new(12_345, 1, 2, 3, 4, 5, "-01:30").xmlschema(3)
puts Time.at(400_000_000_000, 123_456_789, :nsec).utc.iso8601(12)
