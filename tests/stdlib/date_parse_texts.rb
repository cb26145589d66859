# Date._parse of texts that are put together of numbers, names of months and days, eras, times, zones and separators in any order.
require "date"
R = Random.new(7)
def pick(a)=a[R.rand(a.size)]
MON=%w[jan feb mar apr may jun jul aug sep oct nov dec January February March april June July August September sept October Nov. December JAN Feb]
DAY=%w[sun mon tue wed thu fri sat Sunday Monday tues Wednesday thurs Friday Saturday. FRI Sat,]
SEP=["","-","/","."," ",",",", ","  ","--"," - ","'",":","_","+","T","t"," of "," at ","\t","\n"]
def num = pick([->{R.rand(10).to_s},->{"%02d"%R.rand(100)},->{"%02d"%(1+R.rand(12))},->{"%02d"%(1+R.rand(31))},->{R.rand(1000).to_s},->{(1900+R.rand(200)).to_s},->{R.rand(1000000).to_s},->{"'%02d"%R.rand(100)},->{"-%d"%R.rand(3000)},->{"+%d"%R.rand(100)},->{(1+R.rand(31)).to_s+pick(%w[st nd rd th TH])},->{"%d"%R.rand(10**(1+R.rand(16)))},->{"%03d"%R.rand(366)}]).call
def time = pick([->{"%d:%02d"%[R.rand(25),R.rand(61)]},->{"%02d:%02d:%02d"%[R.rand(25),R.rand(61),R.rand(62)]},->{"%02d:%02d:%02d%s%d"%[R.rand(25),R.rand(61),R.rand(62),pick([",","."]),R.rand(10000)]},->{"%d%s"%[R.rand(13),pick(["am","pm"," a.m."," PM","p.m.","h"," h"])]},->{"%dh%dm%ds"%[R.rand(24),R.rand(60),R.rand(60)]},->{"%dh %02d"%[R.rand(24),R.rand(60)]},->{"%d : %02d %s"%[R.rand(13),R.rand(60),pick(%w[am pm AM P.M. p.m])]},->{"%02d%02d"%[R.rand(24),R.rand(60)]},->{"%02d%02d%02d"%[R.rand(24),R.rand(60),R.rand(60)]}]).call
def zone = pick(["Z","z","UTC","GMT","gmt+9","UTC-03:30","+09:00","-0500","+9","EST","pst","JST"," Eastern Standard Time"," Eastern Daylight Time"," E. Europe Standard Time"," EST DST","+5.5","-03,25","[-5:EST]","[+9]","[3]","[EST]"," pacific  standard time","+123456","-1:2:3"," mst","A"," y","utc+0900", " west asia standard time","[-9:30]"])
def bc = pick(["BC","b.c.","AD","a.d.","BCE","b.c.e.","CE","c.e.","bc."])
GEN=[
 ->{[num,pick(MON),num].shuffle(random:R).join(pick(SEP))},
 ->{x=[num,pick(MON),num].shuffle(random:R); x[0]+pick(SEP)+x[1]+pick(SEP)+x[2]},
 ->{x=[num,num,num]; x[0]+pick(SEP)+x[1]+pick(SEP)+x[2]},
 ->{x=[num,num]; x[0]+pick(SEP)+x[1]},
 ->{num},
 ->{pick(DAY)+pick(SEP)+GEN[R.rand(5)].call},
 ->{pick(DAY)+pick(SEP)+GEN[R.rand(5)].call+pick([" ","T"," at ",""])+time+pick([""," "])+zone},
 ->{GEN[R.rand(5)].call+pick([" ","T"," at ","","t "])+time+pick(["", " ", zone, " "+zone])},
 ->{time+pick([" ","",", "])+GEN[R.rand(5)].call},
 ->{x=[num,pick(MON),num].shuffle(random:R);x[0]+pick(SEP)+x[1]+" "+bc+" "+x[2]},
 ->{x=[num,pick(MON),num].shuffle(random:R);x.join(" ")+" "+bc},
 ->{pick(MON)+pick(SEP)+num},->{num+pick(SEP)+pick(MON)},->{pick(MON)},->{time+pick(["", " "])+zone},
 ->{pick(%w[m T s H r h])+"%02d.%02d.%02d"%[R.rand(65),R.rand(14),R.rand(33)]+pick(["","T"+time," "+time])},
 ->{pick(["%04d-W%02d-%d"%[R.rand(3000),R.rand(54),R.rand(9)],"%02dW%02d"%[R.rand(100),R.rand(54)],"W%02d%d"%[R.rand(54),R.rand(8)],"-w-%d"%R.rand(9),"--%02d-%02d"%[R.rand(13),R.rand(32)],"--%02d%02d"%[R.rand(13),R.rand(32)],"---%02d"%R.rand(32),"--%02d"%R.rand(13),"%04d-%03d"%[R.rand(3000),R.rand(367)],"%02d-%03d"%[R.rand(100),R.rand(367)],"-%03d"%R.rand(367),"%08d"%R.rand(10**8),"%014d%s%d"%[R.rand(10**14),pick(%w[. ,]),R.rand(999)],"%06dT%06d"%[R.rand(10**6),R.rand(10**6)],"%d,%d"%[R.rand(10**(1+R.rand(13))),R.rand(999)]])+pick(["","T"+time,"t"+time+zone," "+time,zone, " "+zone])},
 ->{Array.new(1+R.rand(5)){pick([num,time,zone,bc,pick(MON),pick(DAY),pick(SEP),pick(SEP),pick(%w[foo x é 年 noon @ # ; ( )])])}.join(pick(["", " ",pick(SEP)]))},
]
600.times do |i|
  s = GEN[i % GEN.size].call
  both = [Date._parse(s), Date._parse(s, false)].map(&:to_a).uniq rescue both = "#{$!.class}: #{$!.message}"
  puts "#{s.inspect} #{both.inspect}"
end
%w[fri13 -1-02-03 1-2-3 '1-2-3 3.2.'1 2feb 2feb3 feb2001 feb'2 '2feb 31st 3rd3 h1.2.3 1h 1h2 1h2m 1:2:3.4 1am 12pm 3-feb-1 feb-3-1 12/feb/2001 bc1].each { |s| p [s, Date._parse(s), (Date.parse(s, true, Date::ITALY).to_s if s != "fri13" && s =~ /-|h1/ rescue $!.class)] }
p Date._parse("10:20 1234567890123456789012 : 3 am") rescue p $!
["74332994589 : 49 am", "#{2**70}:1pm"].each { |s| p((Date._parse(s) rescue $!)) }
zones = %w[acst aoe azot chadt cist fet gamt irdt kost lint mart nct npt phot qyzt rott tost ulast warst wgst zp6 a i k m n y z ut utc idlw sast] + ["canada central", "e. africa", "west pacific", "new zealand", "mid-atlantic"]
zones.each { |z| p [z, ["", " standard time", " daylight time", " dst"].map { |e| Date._parse("10:20 #{z}#{e}")[:offset] }] }
