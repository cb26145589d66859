# A thread that reads RubyVM::Pool or RubyVM::Cluster first may be ended wherever it is in their files: who reads it next has all of it.
module Kernel
  alias require_untold require

  def require(feature)
    RubyVM.interrupted(feature, :before)
    require_untold(feature)
  ensure
    RubyVM.interrupted(feature, :after)
  end
end

def RubyVM.interrupted(*at)
  return unless Thread.current[:ended_at] == at
  Thread.current[:ended_at] = nil
  $reached += 1
  $how == :kill ? Thread.current.kill : raise("ended")
end

$reached = 0
USES = {
  pool: -> { RubyVM::Pool.open(size: 1) { |pool| pool.submit { 6 * 7 }.value } },
  cluster: -> { %w[redis nats].map { |kind| RubyVM::Channel.open("#{kind}://127.0.0.1:1/x", timeout: 0.01) rescue RubyVM::Cluster::Error === $! } },
}
PARTS = { pool: %w[worker task crew report], cluster: %w[address connection redis nats parts wire outgoing channel] }

PARTS.each do |name, parts|
  all = ["zakuro/#{name}", *parts.map { |part| "zakuro/#{name}/#{part}" }]
  outcomes = all.product(%i[before after], %i[kill raise]).map do |feature, moment, how|
    RubyVM.fork do
      $how = how
      reader = Thread.new do
        Thread.current.report_on_exception = false
        Thread.current[:ended_at] = [feature, moment]
        RubyVM.const_get(name.capitalize)
      end
      reader.join rescue $!.message == "ended" || raise
      [$reached, USES[name].call]
    end.value
  end
  p name, outcomes.size, outcomes.tally
end

# A file whose thread is killed when all of it has run: it is not run twice.
require "tmpdir"
Dir.mktmpdir do |dir|
  File.write(File.join(dir, "late.rb"), "$runs = $runs.to_i + 1\nLate = :late\n")
  $LOAD_PATH.unshift dir
  autoload :Late, "late"
  $how = :kill
  Thread.new { Thread.current[:ended_at] = ["late", :after]; Late }.join
  p Late, $runs
end

# What ends a load stays what it is, also where asking for the file fails then.
Dir.mktmpdir do |dir|
  File.write(File.join(dir, "ends.rb"), "odd = Object.new\ndef odd.to_path = raise('odd')\n$LOAD_PATH.unshift(odd)\nraise 'mine'\n")
  $LOAD_PATH.unshift dir
  autoload :Ends, "ends"
  begin
    Ends
  rescue => e
    puts e.message
  end
  $LOAD_PATH.shift
end

# A program may have filled $LOADED_FEATURES with anything.
p RubyVM.fork {
  $LOADED_FEATURES.concat(["zakuro/pool/task.so", "x"] * 300_000)
  $how = :raise
  begin
    Thread.current[:ended_at] = ["zakuro/pool/crew", :before]
    RubyVM::Pool
  rescue => e
    [e.message, $LOADED_FEATURES.count("x"), $LOADED_FEATURES.count("zakuro/pool/task.so")]
  end
}.value

# A thread that a child process does not have was loading one.
Dir.mktmpdir do |dir|
  File.write(File.join(dir, "halfway.rb"), "class Halfway; end\n$began << 1\n$go_on.pop\nHalfway::REST = :rest\n")
  $LOAD_PATH.unshift dir
  autoload :Halfway, "halfway"
  $began, $go_on = Queue.new, Queue.new
  reader = Thread.new { Halfway }
  $began.pop
  child = fork do
    $go_on << 1
    p Halfway::REST
    $stdout.flush
    exit!
  end
  Process.wait(child)
  $go_on << 1
  p reader.value::REST
end
