# Without --gc=stress. irb on a terminal: lines that go on, colours, completion, history, errors, interrupts, binding.irb; zakuro without a program.
require "pty"
require "io/console"
require "tmpdir"
require "timeout"

ZAKURO = RbConfig.ruby

# Somebody at a terminal.
class Typist
  def initialize(home, *command)
    @seen = +"".b
    @output, @input, @pid = PTY.spawn({ "HOME" => home, "XDG_CONFIG_HOME" => nil, "IRBRC" => nil, "TERM" => "xterm", "NO_COLOR" => nil, "COLUMNS" => nil, "LINES" => nil }, ZAKURO, *command)
    @output.winsize = [40, 120]
  end

  # Waits for a text and returns what came before it and it, without what moves the cursor.
  def await(text)
    Timeout.timeout(60) do
      until (at = plain.index(text))
        chunk = @output.readpartial(4096)
        @seen << chunk
        # What a terminal answers when it is asked where the cursor is.
        chunk.scan("\e[6n") { @input.write "\e[1;1R" }
      end
    end
    came = plain
    @seen.clear
    came
  end

  def plain = @seen.dup.force_encoding("UTF-8").scrub.gsub(/\e\[[0-9;?]*[A-Za-ln-z]|\e\[[0-9;]*m|\r/, "")
  def coloured? = @seen.include?("\e[3")
  attr_reader :seen

  def type(text)
    @input.write text
    self
  end

  def close
    @output.read
  rescue Errno::EIO
  ensure
    Process.wait(@pid)
    puts "status #{$?.exitstatus}"
  end
end

Dir.mktmpdir do |home|
  t = Typist.new(home)
  t.await("irb(main):001>")
  puts "-- lines that go on"
  t.type("def fact(n)\n").await("irb(main):002*")
  t.type("n < 2 ? 1 : n * fact(n - 1)\n").await("irb(main):003*")
  t.type("end\n")
  puts t.await("=> :fact")[/=> :fact/]
  t.type("fact(20)\n")
  puts t.await("=> 2432902008176640000")[/=> \d+/]
  puts "-- errors"
  t.type("raise 'oops'\n")
  puts t.await("oops (RuntimeError)")[/\(irb\).*Error\)/]
  t.type("1 + )\n")
  puts t.await("SyntaxError")[/\(SyntaxError\)|SyntaxError/]
  puts "-- completion"
  t.type("[3, 1].each_with_ind\t\n")
  puts t.await("=> #<Enumerator")[/each_with_index/]
  puts "-- an interrupt"
  t.type("print 'be' + 'gun'; loop { }\n").await("begun")
  t.type("\x03").await("irb(main):")
  t.type("'after' + 'wards'\n")
  puts t.await("=> \"afterwards\"")[/=> .*/]
  t.type("exit\n").close
  puts "-- history"
  puts File.readlines("#{home}/.irb_history", chomp: true).last(2)
  t = Typist.new(home)
  t.await("irb(main):001>")
  t.type("\e[A\e[A\n")
  puts t.await("=> \"afterwards\"")[/=> .*/]
  t.type("exit\n").close

  puts "-- in a program"
  File.write("#{home}/p.rb", "def m\n  x = 41\n  binding.irb\n  puts x\nend\nm\n")
  t = Typist.new(home, "#{home}/p.rb")
  puts t.await("irb(main):001>").lines.grep(/=> 3|x = 41/).map(&:strip)
  t.type("x += 1\n").await("=> 42")
  t.type("exit\n")
  puts t.await("\n42\n")[/^42$/]
  t.close
end

puts "-- without a terminal"
IO.popen([ZAKURO], "r+") { |io| io.puts "puts 1 + 1"; io.close_write; print io.read }
IO.popen([ZAKURO, "-e", "require 'irb'; IRB.start"], "r+", err: [:child, :out]) { |io| io.puts "1.then do |x|", "x + 1", "end"; io.close_write; puts io.read[/^2$/] }
# Needs prism.
