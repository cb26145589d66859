t = Time.utc(2024, 12, 31, 23, 59, 59)
p t + 1
p t + 0.5
p t - 3600
p((t + 1).year)
p((t + 1).yday)
p t.to_i
p((t - Time.utc(2024)).class)
p t <=> t + 1
p t == Time.at(t.to_i).utc
p [t + 1, t].sort.first == t
p t.monday?
p t.wday
p((t + 86400 * 60).month)
p Time.utc(2024, 2, 28) + 86400
p Time.utc(2023, 2, 28) + 86400
p Time.utc(2000, 1, 1).wday
p Time.utc(1970).to_i
p Time.utc(1900, 1, 1).to_i
p Time.utc(2100, 3, 1).yday
p Time.at(2**33).utc.year
p Time.at(-1).utc
p t.strftime("%F %T")
p t.strftime("%d/%m/%y")
p t.strftime("%-m/%-d %l:%M %p")
p t.strftime("%A, %B %e")
p t.strftime("%j %U %s %%")
p t.strftime("%H%M%S%L")
p t.strftime("%10F|%-S|%03d|%^b")
p t.strftime("%z %:z %Z")
p t.strftime("")
u = Time.new(2024, 6, 1, 12, 0, 0, "+05:30")
p u
p u.utc_offset
p u.zone
p u.utc
p u.getutc.hour
p Time.new(2024, 6, 1, 12, 0, 0, "-03:00").getlocal("+00:00").hour
p u.hash == u.dup.hash
p Time.utc(2024, 1, 1, 0, 0, 1.25).subsec
p Time.utc(2024, 1, 1, 0, 0, 0, 500).usec
p Time.at(1.1).utc.nsec
p Time.at(1, 5, :nsec).nsec
p Time.at(0, 1500, :usec).to_f
