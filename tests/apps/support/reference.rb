# What the reference's Ractor says to the programs of tests/apps: `ruby -W0 support/reference.rb > support/reference.txt` in tests/apps.
# Each is loaded by the main Ractor; then one more round runs in a Ractor.

require "stringio"

puts "# ruby #{RUBY_VERSION}: one more round of each program in a Ractor"
Dir["#{__dir__}/../parallel/*.rb"].sort.each do |driver|
  name, entry = File.read(driver)[/run\("(\w+)"\) \{ (.+?) \}/] ? [$1, $2] : next
  before = $stdout
  $stdout = StringIO.new
  load "#{__dir__}/../#{name}.rb"
  $stdout = before
  begin
    Ractor.new(entry) { |code| eval(code) }.take
    puts "#{name}: no error"
  rescue Ractor::RemoteError => e
    puts "#{name}: #{e.cause.class}: #{e.cause.message}"
  end
end
