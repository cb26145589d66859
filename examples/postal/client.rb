# A client of the postal codes, for any Ruby:  ruby examples/postal/client.rb druby://127.0.0.1:PORT
require "drb"

def ask(uri, who, count)
  codes = DRb::DRbObject.new_with_uri(uri)
  DRb.start_service(uri.start_with?("drb+mvm:") ? "drb+mvm://" : "druby://127.0.0.1:0") # blocks are called over it
  known = codes.some(count, who.sum)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  towns = known.map { |code| codes.town(code) }
  each = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) / count * 1e6
  found = []
  codes.search(towns[0][0, 4]) { |code, town| found << "#{code} #{town}" }
  wrong = begin
    codes.town("12-34")
  rescue ArgumentError => e
    e.message
  end
  ["#{who}: #{towns.compact.size} of #{count} codes have towns; #{found.size} of #{codes.search(towns[0][0, 4]).size} towns in #{towns[0][0, 4]}...; #{wrong}", each]
ensure
  DRb.stop_service
end

if __FILE__ == $0
  abort "usage: client.rb URI" unless ARGV[0]
  line, each = ask(ARGV[0], "#{RUBY_ENGINE} #{RUBY_VERSION}", 1000)
  puts line, format("  %.1f us for a question over %s", each, ARGV[0][/\A[^:]+:/])
end
