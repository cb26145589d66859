# Dates and times: processor time of everyday calls, in nanoseconds each. `compare` beside this file takes two interpreters by turns and prints ratios.
require "date"
require "time"
require "erb"

DAY, OTHER, MOMENT, TIME = Date.new(2024, 2, 29), Date.new(2023, 12, 31), DateTime.new(2024, 2, 29, 4, 5, 6, "+09:00"), Time.utc(2024, 2, 29, 4, 5, 6)
LATER = TIME + 1.5
ISO, STAMP, MAIL, HTTP, WORDS = "2024-02-29", "2024-02-29T04:05:06+09:00", "Thu, 29 Feb 2024 04:05:06 +0900", "Thu, 29 Feb 2024 04:05:06 GMT", "29th Feb 2024 04:05 PM"
HTML = "<a href='x'>Tom & Jerry</a> and quite some text behind it"
CALLS = {
  "Date.new" => -> { Date.new(2024, 2, 29) }, "DateTime.new" => -> { DateTime.new(2024, 2, 29, 4, 5, 6) }, "Date.valid_date?" => -> { Date.valid_date?(2024, 2, 30) },
  "Date.jd" => -> { Date.jd(2460370) }, "Date#year" => -> { DAY.year }, "Date#yday" => -> { DAY.yday }, "Date#cweek" => -> { DAY.cweek }, "Date#wday" => -> { DAY.wday },
  "Date#+" => -> { DAY + 1 }, "Date#- day" => -> { DAY - OTHER }, "Date#>>" => -> { DAY >> 1 }, "Date#==" => -> { DAY == OTHER }, "Date#<" => -> { DAY < OTHER }, "Date#<=>" => -> { DAY <=> OTHER },
  "Date#hash" => -> { DAY.hash }, "Date#to_s" => -> { DAY.to_s }, "Date#strftime" => -> { DAY.strftime("%d.%m.%Y %a") }, "DateTime#to_s" => -> { MOMENT.to_s }, "Date#inspect" => -> { DAY.inspect },
  "Date._strptime" => -> { Date._strptime(ISO, "%Y-%m-%d") }, "Date.strptime" => -> { Date.strptime(ISO, "%Y-%m-%d") }, "DateTime.strptime" => -> { DateTime.strptime(STAMP, "%Y-%m-%dT%H:%M:%S%z") },
  "Time.strptime" => -> { Time.strptime(STAMP, "%Y-%m-%dT%H:%M:%S%z") }, "Date.iso8601" => -> { Date.iso8601(ISO) }, "DateTime.iso8601" => -> { DateTime.iso8601(STAMP) },
  "DateTime.rfc3339" => -> { DateTime.rfc3339(STAMP) }, "DateTime.rfc2822" => -> { DateTime.rfc2822(MAIL) }, "DateTime.httpdate" => -> { DateTime.httpdate(HTTP) }, "Date.parse" => -> { Date.parse(ISO) },
  "DateTime.parse" => -> { DateTime.parse(STAMP) }, "Date.parse words" => -> { Date.parse(WORDS) }, "Time.parse" => -> { Time.parse(STAMP) }, "Time#to_date" => -> { TIME.to_date },
  "Date#to_time" => -> { DAY.to_time }, "Time#iso8601" => -> { TIME.iso8601 }, "Time#strftime" => -> { TIME.strftime("%Y-%m-%d %H:%M:%S") }, "Time#- time" => -> { LATER - TIME }, "Time#+" => -> { TIME + 1 },
  "Time.now" => -> { Time.now }, "ERB::Util.h" => -> { ERB::Util.h(HTML) }
}
require_relative "each_call"
