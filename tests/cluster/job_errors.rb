# Needs redis-server.
# What a job of another machine raised keeps its class, and so do its causes, where the class is known; the worker's own VM knows none of the program's.
require "tmpdir"
require_relative "support/servers"

class Odd < StandardError
  attr_reader :number

  def initialize(number)
    @number = number
    super("odd #{number}")
  end
end

module Deep
  class Error < StandardError; end
end

def chain(error) = error ? [[error.class, error.message, error.backtrace&.size&.positive?], *chain(error.cause)] : []

# Runs the block with the exception as the one that is handled.
def after(error)
  raise error
rescue Exception
  yield
end

APP = <<~RUBY
  class Odd < StandardError
    attr_reader :number

    def initialize(number)
      @number = number
      super("odd \#{number}")
    end
  end

  module Deep
    class Error < StandardError; end
  end
  class There < StandardError; end

  def after(error)
    raise error
  rescue Exception
    yield
  end

  def holding(error) = error.tap { error.instance_variable_set(:@io, $stdout) }
RUBY

JOBS = {
  "of both" => proc { raise Odd.new(3) },
  "its cause" => proc { after(Odd.new(1)) { raise ArgumentError, "outer" } },
  "exit" => proc { exit 3 },
  "no memory" => proc { raise NoMemoryError, "much" },
  "no memory, and why" => proc { after(Odd.new(4)) { raise NoMemoryError, "more" } },
  "a signal" => proc { raise SignalException, "TERM" },
  "throw" => proc { throw :done, 5 },
  "unknown here" => proc { raise There, "there" },
  "unknown behind" => proc { after(There.new("a")) { after(Odd.new(9)) { raise KeyError, "out" } } },
  "holds what stays there" => proc { raise holding(Deep::Error.new("deep")) },
  "holds it behind" => proc { after(holding(Odd.new(7))) { raise TypeError, "out" } },
  "nameless" => proc { raise Class.new(StandardError), "who" },
  "a value that stays there" => proc { $stdout }
}

Dir.mktmpdir do |dir|
  server = Servers.start("redis", dir)
  app = File.join(dir, "app.rb")
  File.write(app, APP)
  pid = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "1", app, out: File::NULL)
  pool = RubyVM::Pool.new(connect: server.url("pool"))
  JOBS.each do |name, job|
    pool.submit(&job).value
    puts "#{name}: no error"
  rescue RubyVM::Pool::JobError => e
    puts "#{name}: #{e.class} #{e.message.gsub(/0x\h+/, "0x")}"
    chain(e.cause).each { |one| puts "  #{one.inspect.gsub(/0x\h+/, "0x")}" }
    case e.cause
    when Odd then p e.cause.number
    when SystemExit then p e.cause.status
    when SignalException then p e.cause.signo
    when UncaughtThrowError then p e.cause.tag, e.cause.value
    end
  end
  pool.close
ensure
  Process.kill(:KILL, pid)
  server.stop
end
# Needs the standard library.
