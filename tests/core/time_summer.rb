# Which of two readings of the clock is meant: `:dst` and `:std` in the place of a zone.
ENV["TZ"] = "America/Los_Angeles"
p Time.new(2007, 11, 4, 1, 30, 0, :dst), Time.new(2007, 11, 4, 1, 30, 0, :std)
p Time.new(2007, 7, 1, 0, 0, 0, :dst).isdst, Time.new(2007, 1, 1, 0, 0, 0, :std).isdst
ENV["TZ"] = "Europe/London"
p Time.new(2000, 10, 29, 1, 0, 0, :dst), Time.new(2000, 10, 29, 1, 0, 0, :std)
begin
  Time.new(2000, 1, 1, 0, 0, 0, :other)
rescue TypeError, ArgumentError => e
  puts e.class
end

# All fields at once.
ENV["TZ"] = "Europe/Berlin"
p Time.at(1_720_000_000).to_a, Time.at(1_700_000_000).to_a, Time.at(-1.5).getutc.to_a, Time.at(0, in: "+05:30").to_a, Time.new(-5, 1, 1).utc.to_a
