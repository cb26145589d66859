# What runs when `zakuro --image` is given no program; images of images; files that processes share.
require "tmpdir"
EXE = File.readlink("/proc/self/exe")
Dir.mktmpdir do |dir|
  run = ->(*args, input: "", **options) { IO.popen([{"RUBYOPT" => nil}, EXE, *args, err: [:child, :out]], "r+", **options) { |io| io.write(input); io.close_write; io.read } }
  a, b, c = %w[a b c].map { |n| "#{dir}/#{n}" }
  puts run.("-e", <<~'RUBY', a, b)
    class Counter
      def initialize = @n = 0
      def up = @n += 1
    end
    $counter = Counter.new
    $counter.up
    image = RubyVM::Image.capture
    mine = ["outer"]
    table = {Counter => 1, "k" => mine}
    p image.save(ARGV[0]) { puts "block", mine.inspect, table["k"].equal?(mine), $counter.up, ARGV.inspect, $0; mine << 1 }.equal?(image)
    mine << "later"
    image.save(ARGV[1])
  RUBY
  puts run.("--image", a), run.("--image", a), run.("--image", a, input: "puts :not_read")
  puts run.("--image", a, "--", "--port", "80", "-x"), run.("--image", a, "--")
  puts "with a program"
  puts run.("--image", a, "-e", "p $counter.up"), run.("--image", a, "-", "arg", input: "p $counter.up, ARGV")
  puts run.("--image", b, input: "p $counter.up, $0")
  puts "an image of an image"
  puts run.("--image", a, "-e", "$counter.up; def late = :late; RubyVM::Image.capture.save(ARGV[0]) { p $counter.up, late }", c)
  puts run.("--image", c)
  puts run.("-e", "RubyVM::Image.load(ARGV[0]).save(ARGV[1])", a, c), run.("--image", c)
  puts run.("-e", "i = RubyVM::Image.load(ARGV[0]); j = RubyVM::Image.load(ARGV[0]); p i.spawn { [$counter.up, $counter.up] }.value, j.spawn { Counter.name }.value, i.spawn { j = RubyVM::Image.capture; j.spawn { $counter.up }.value }.value", a)
  puts "options"
  puts run.("-w", "-I", "#{dir}/lib", "-rset", "--image", a, "-e", "p $VERBOSE, $LOAD_PATH.first == ARGV[0], Set.new([1]).size", "#{dir}/lib")
  puts run.("-C", dir, "--image", "a"), run.("-C", dir, "-e", "Dir.chdir('..'); i = RubyVM::Image.load('#{File.basename(dir)}/a'); p i.spawn { 7 }.value")
  puts run.("-e", "v = RubyVM.new('x', '--image', ARGV[0], '-e', '$counter.up').start; p v.value", a)
  puts run.("--image"), run.("--image", a, input: "", chdir: dir)
  File.write("#{dir}/bang.rb", "#!/usr/bin/env ruby --image=#{a}\np 1\n")
  puts run.("#{dir}/bang.rb")
  puts IO.popen([{"RUBYOPT" => "--image=#{a}"}, EXE, "-e", "p 1", err: [:child, :out]], &:read)
  puts "uncaught"
  puts run.("-e", "RubyVM::Image.capture.save(ARGV[0]) { raise 'in the block' }", c), run.("--image", c).lines.first[/:\d+:in.*/], $?.exitstatus
  puts run.("-e", "RubyVM::Image.capture.save(ARGV[0]) { at_exit { puts :bye }; exit 3 }", c), run.("--image", c), $?.exitstatus
end
