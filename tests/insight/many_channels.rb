# A VM that uses a channel for each answer: the channels that matter are still told apart; and handles of one address know nothing of each other.
require "json"
require "rbconfig"

program = <<~'RUBY'
  asked = RubyVM::Channel.new(name: "asked")
  server = RubyVM.fork(asked, name: "server") { |asked| asked.each { |n, answer| answer << n + 1 } }
  400.times { |i| answer = RubyVM::Channel.new; asked << [i, answer]; answer.recv }
  lines = RubyVM::Channel.new(name: "lines")
  reader = RubyVM.fork(lines, name: "reader") { |lines| lines.each { } }
  300.times { |i| lines << i }
  lines.close
  asked.close
  [server, reader].each(&:join)
  puts RubyVM.report(format: :json)
RUBY
report = JSON.parse(IO.popen([RbConfig.ruby, "--account", "-e", program], &:read))
%w[asked lines].each do |name|
  c = report["channels"].find { it["name"] == name }
  p name, c["sent"], c["received"], c["senders"].map { it["name"] }, c["receivers"].map { it["name"] }
end
p report["channels"].size.between?(200, 600)
handles = <<~'RUBY'
  mine = RubyVM::Channel.__remote("redis://host/secret")
  told = RubyVM::Channel.new
  other = RubyVM.fork(told) do |told|
    its = RubyVM::Channel.__remote("redis://host/secret")
    3.times { its.__handed_over(its.__hand_over, 100) }
    told << its.stat.values_at(:sent, :bytes)
  end
  p told.recv, mine.stat.values_at(:sent, :bytes, :senders)
  mine.__handed_over(mine.__hand_over, 5)
  mine.__received(5)
  other.join
  row = require("json") && JSON.parse(RubyVM.report(format: :json))["channels"].select { it["remote"] }
  p row.map { it.values_at("name", "sent", "received", "bytes") }, row.flat_map { it["senders"].map { |s| s.values_at("name", "vms", "messages") } }
  # One that sees itself alone sees its own part.
  RubyVM.fork(told) { |told| its = RubyVM::Channel.__remote("redis://host/secret"); its.__handed_over(its.__hand_over, 7); told << RubyVM.report(format: :json) }
  p JSON.parse(told.recv)["channels"].select { it["remote"] }.map { it.values_at("sent", "bytes") }
RUBY
puts IO.popen([RbConfig.ruby, "--account", "-e", handles], err: %i[child out], &:read)
