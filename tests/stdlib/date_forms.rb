# The strict forms and what is near them: right, wrong, and what Date._parse makes of each.
require "date"
def h(x) = x.sort_by{|k,_|k.to_s}
%w[2001-02-03 2001-02-03T04:05:06 2001-02-03T04:05:06Z 2001-02-03T04:05:06.789+09:00 2001-13-45 2001-02-03T25:61:61 0001-02-03 2001-02-03t04:05:06z 2001-02-03T04:05:06,5 2001-02-03T04:05 2001-02-3 2001-02-03T04:05:06-0300 2001-02-03T04:05:06+9 x2001-02-03].each do |s|
  [s, s.tr("T"," ")].each do |t|
    [[t],[t,true],[t,false]].each{|a| p [a,h(Date._parse(*a))]}
    %i[_iso8601 _rfc3339 _xmlschema].each{|m| p [m, t, Date.send(m,t)]}
    %i[parse iso8601 rfc3339 xmlschema].each{|m| p [m, t, (Date.send(m,t) rescue $!.class),(DateTime.send(m,t) rescue $!.class)]}
  end
end
["Thu, 29 Feb 2024 04:05:06 +0900","Thu, 9 Feb 2024 04:05:06 GMT","Thu, 09 Feb 2024 04:05:06 gmt","thu, 29 feb 2024 04:05:06 EST","Thu,29 Feb 2024 04:05:06 +0000","Thu, 29 Feb 24 04:05:06 +0000","Thu, 29 Feb 2024 04:05 +0000","29 Feb 2024 04:05:06 +0000","Thursday, 29-Feb-24 04:05:06 GMT","Thu Feb 29 04:05:06 2024","Thu, 30 Feb 2024 04:05:06 GMT","Xyz, 29 Feb 2024 04:05:06 GMT"].each do |s|
  p Date._rfc2822(s),Date._httpdate(s),Date._rfc822(s)
  %i[rfc2822 httpdate].each{|m| p [m,s,(Date.send(m,s) rescue $!.class),(DateTime.send(m,s) rescue $!.class)]}
end
p((Date._parse("2001-02-03"+" "*200) rescue $!.message),Date._parse("2001-02-03"+" "*200,limit:nil),(Date.parse("2001-02-03",limit:5) rescue $!.message),(Date.iso8601("2001-02-03",limit:5) rescue $!.message),(Date._parse rescue $!.class),(Date._parse("1","2","3") rescue $!.class),(Date._iso8601(nil)),(Date._iso8601(5) rescue $!.class),(Date._parse(:a) rescue $!.class))
p Date._parse("2001-02-03".encode("UTF-8")+" 04:05:06 UTC").then{_1[:zone].encoding}, Date._iso8601("2001-02-03T04:05:06Z".encode("US-ASCII"))[:zone].encoding
