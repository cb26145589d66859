# Digits of a second beyond the ninth: those of a Rational, cut off.
times = [Time.at(123456789.quo(9999999999)).getlocal("+09:00"), Time.at(1.quo(3)).utc, Time.at(-1.quo(7)).utc, Time.at(5, 999_999_999, :nsec).utc, Time.at(0, 10**30 / 3r / 10**21, :nsec).utc, Time.at(1, Rational(1, 10**40)).utc, Time.at(2 + Rational(10**40 - 1, 10**40)).utc]
times.each { |t| [0, 1, 3, 9, 10, 12, 20, 41, 60].each { |n| puts t.xmlschema(n) } }
p Time.utc(2000).iso8601(30), Time.at(1.quo(3)).utc.xmlschema(1200).size, Time.utc(10_000).xmlschema(11), Time.utc(-5, 1, 1, 0, 0, 1.quo(3)).xmlschema(12), Time.utc(2000).xmlschema(-3)
