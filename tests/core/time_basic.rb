t = Time.utc(2024, 2, 29, 13, 5, 9.5)
p t
p t.year
p t.month
p t.day
p t.hour
p t.min
p t.sec
p t.usec
p t.nsec
p t.wday
p t.yday
p t.zone
p t.utc?
p t.to_i
p t.to_f
p t.monday?
p t.thursday?
p t.utc_offset
p t.dst?
p t.to_a.first(6)
p t.subsec
puts t, t.inspect, t.strftime("%Y-%m-%d %H:%M:%S.%L %j %a %A %b %B %y %e %I %p %-d %3N %z %Z %% %s %F %T %D %R %u %w %C %10Y %^a %-H")
p t + 60
p t - 60
p t - Time.utc(2024, 1, 1)
p((t <=> Time.utc(2025)))
p t == Time.utc(2024, 2, 29, 13, 5, 9.5)
p t < Time.utc(2025)
p t.round
p t.floor
p t.eql?(t.dup)
p t.hash == t.dup.hash
p [Time.utc(2), Time.utc(1)].min.year
p Time.utc(2024, "feb", 3).month
p t.between?(Time.utc(2023), Time.utc(2025))
u = Time.at(0).utc
p u
p Time.at(1.5).utc.nsec
p Time.at(1, 500, :millisecond).utc
p Time.at(1700000000).utc
p Time.new(2024, 1, 2, 3, 4, 5, "+09:00")
p Time.new(2024, 1, 2, 3, 4, 5, "+09:00").utc
p Time.new(2024, 1, 2, 3, 4, 5, "+09:00").utc_offset
p Time.utc(2024, 12, 31).yday
p Time.utc(2023, 2, 31)
p Time.gm(2000).year
p Time.utc(1969, 12, 31, 23, 59, 59).to_i
p Time.utc(2024, 3, 10, 12).getlocal("-05:00")
p Time.utc(2024).localtime("+01:00").hour
p Time.at(0, in: "+02:00")
p Time.at(0, in: "UTC").zone
p Time.now.class
p((Time.now - Time.now).class)
p Time.now.year >= 2024
p Time.now - 1 < Time.now
begin; Time.utc(2024, 13); rescue ArgumentError => e; p e.class; end
begin; t + t; rescue TypeError => e; p e.message; end
p Time.utc(2024, 1, 31) + 86400, Time.utc(2000, 1, 1).strftime("%c|%x|%X|%h|%n|%t|%U|%W|%V|%G|%k|%l|%P|%+|%1N|%6N|%9N|%_m|%05d|%:z|%::z")
