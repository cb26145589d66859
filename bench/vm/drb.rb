# A call of dRuby: over channels to another VM (drb+mvm://), and over TCP on the same machine (druby://) to another process of the same Ruby.
# drb.rb [CALLS] prints lines `name value unit`: microseconds for a call that adds two numbers, for one that sends and returns 10 KB, and for one that yields to a block of the client.
require "rbconfig"
require "drb"

class Front
  include DRb::DRbUndumped
  def add(a, b) = a + b
  def same(object) = object
  def twice = [yield(1), yield(2)]
end

def measure(name, uri, calls)
  front = DRb::DRbObject.new_with_uri(uri)
  { "add" => -> { front.add(1, 2) }, "10_kb" => -> { front.same("x" * 10_000) }, "block" => -> { front.twice { |n| n } } }.each do |what, call|
    count = what == "block" ? calls / 4 : calls
    (count / 10).times { call.() }
    best = Array.new(5) do
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      count.times { call.() }
      (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) / count * 1e6
    end.min
    puts format("%s_%s %.2f us", name, what, best)
  end
end

if ARGV[0] == "--serve"
  DRb.start_service("druby://127.0.0.1:0", Front.new)
  puts DRb.uri
  $stdout.flush
  $stdin.read
  exit!
end

calls = Integer(ARGV[0] || 2000)
IO.popen([RbConfig.ruby, __FILE__, "--serve"], "r+") do |server|
  uri = server.gets.chomp
  DRb.start_service("druby://127.0.0.1:0")
  measure("tcp_drb", uri, calls)
  DRb.stop_service
  server.close_write
end
if defined?(RubyVM::Channel)
  require "drb/mvm"
  up, down = RubyVM::Channel.new, RubyVM::Channel.new
  RubyVM.fork(up, down) { |up, down| DRb.start_service("drb+mvm://bench", Front.new); up << 1; down.recv }
  up.recv
  DRb.start_service("drb+mvm://")
  measure("vm_drb", "drb+mvm://bench", calls)
end
