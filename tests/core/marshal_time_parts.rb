# Marshal keeps parts of a nanosecond, and reads what older or broken writers left.
ENV["TZ"] = "UTC"

[Time.at(0, 0.123), Time.at(0, 0.12), Time.at(0, Rational(1, 3)), Time.at(123456789, 987654.321), Time.at(5, 7, :nsec), Time.at(-1, Rational(5, 7), :nsec)].each do |t|
  data = Marshal.dump(t)
  p data
  back = Marshal.load(data)
  p back == t, back.subsec == t.subsec
end

# Digits behind the microseconds, as 1.9.1 wrote them.
p Marshal.load("\x04\bIu:\tTime\r \x80\x11\x80@\xE2\x01\x00\x06:\rsubmicro\"\ax\x90").nsec
p Marshal.load("\x04\bIu:\tTime\r \x80\x11\x80@\xE2\x01\x00\x06:\rsubmicro\"\ax\xf0").nsec
p Marshal.load("\x04\bIu:\tTime\r \x80\x11\x80@\xE2\x01\x00\x06:\rsubmicro\"\x06x").nsec

# A month beyond December.
p Marshal.load("\x04\x08u:\tTime\r\x20\x7c\x1e\xc0\x00\x00\x00\x00")

# A zone that is none.
broken = Marshal.load("\x04\bIu:\tTime\r\xEFF\x1C\x80\x00\x00\x00\x00\x06:\tzone\"\b\0\0\0")
p broken.zone
