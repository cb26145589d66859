# A database of postal codes in a VM of its own, and clients in other VMs over channels (drb+mvm://postal), in another Ruby over TCP (druby://).
#
#   ./run examples/postal/run.rb [CODES]
require "drb/mvm"
require_relative "database"
require_relative "client"

count = Integer(ARGV[0] || 50_000)
uris = RubyVM::Channel.new
stop = RubyVM::Channel.new
database = RubyVM.fork(uris, stop, name: "postal") do |uris, stop|
  codes = PostalCodes.new(count)
  DRb.start_service("drb+mvm://postal", codes)
  tcp = DRb::DRbServer.new("druby://127.0.0.1:0", codes)
  uris << tcp.uri
  stop.recv
end
tcp = uris.recv
puts "#{DRb::DRbObject.new_with_uri("drb+mvm://postal").size} codes in VM #{database.name}, at #{DRb::MVM.names.list.map { |name| "drb+mvm://#{name}" }.join(" ")} and #{tcp[/\A.*:/]}PORT"

clients = Array.new(3) { |i| RubyVM.fork(i, name: "client #{i}") { |i| ask("drb+mvm://postal", "client #{i}", 1000) } }
clients.each do |client|
  line, each = client.value
  puts line
  warn format("  %.1f us for a question over drb+mvm:", each)
end
if (ruby = ENV["RUBY"] || ENV["PATH"].split(":").map { |dir| "#{dir}/ruby" }.find { |path| File.executable?(path) })
  system(ruby, File.join(__dir__, "client.rb"), tcp)
else
  puts "no other Ruby here"
end
stop << 1
database.join
