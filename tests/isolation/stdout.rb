require_relative "support/pair"
pair(<<~'RUBY')
  class Sink
    def initialize = @lines = []
    attr_reader :lines
    def write(*texts)
      @lines.concat(texts.map(&:to_s))
      texts.sum { |t| t.to_s.bytesize }
    end
  end
  sink = Sink.new
  $stdout = sink
  puts "to the sink of #{me}"
  print "more"
  both.()
  lines = sink.lines.join
  $stdout = STDOUT
  out << [lines, $stdout.equal?(STDOUT)]
RUBY
puts "master still prints"
p $stdout.equal?(STDOUT)
