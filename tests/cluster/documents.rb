# Needs redis-server.
# Here-documents travel with the block that they begin in, also where their lines stand behind it.
require "tmpdir"
require_relative "support/servers"

def same(*list) = list

Dir.mktmpdir do |dir|
  server = Servers.start("redis", dir)
  pid = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "1", out: File::NULL)
  pool = RubyVM::Pool.new(connect: server.url("pool"))
  list = [1, 2]
  name = "outer"
  p pool.map(list) { |x| x.to_s + <<~T }
    one #{name}
      two
  T
  p(pool.map(list) do |x|
    y = x * 2
    "#{y} " + <<T end)
three #{name}
T
  p pool.map(list) { |x| [x, <<~A, <<-'B'] }
    first #{x}
  A
    second #{x}
    B
  p same(<<~BEFORE, pool.map(list) { |x| "#{x} #{<<~INNER}" }, <<~AFTER)
    before
  BEFORE
    inner #{name.upcase}
  INNER
    after
  AFTER
  p pool.map(list, &->(x) { <<~T.lines.map { |line| x.to_s + line } })
    lambda
    #{[x, name].map { |y| "#{y}!" }.join(" ")}
  T
  p pool.map(list) { |x| <<~`T` }
    echo #{x}
  T
  p pool.map(list) { |x| [x << 2, "<<T"] }
  inner = proc { <<~T }
    of a block that is used
  T
  p pool.map(list) { |x| inner.call * x }
  p <<~OUT
    #{pool.map(list) { |x| <<~IN }}
    in
    IN
    out
  OUT
  # Its lines are in the block.
  p pool.map(list) { |x|
    <<~T + x.to_s
      inside
    T
  }
  # Those of a document that begins before it are not.
  p pool.submit(<<~T, 2) { |text, n|
    # outside
  T
    text * n + <<~END }
      inside
    END
    .value
  p(pool.submit(<<~T) do |text|
    before #{name}
  T
    __LINE__ - text.lines.size
  end.value == __LINE__ - 2)
  begin
    pool.map([1]) { |x| raise <<~T }
      said
    T
  rescue RubyVM::Pool::JobError => e
    p e.cause, e.cause.backtrace[0][/\w+\.rb:\d+/] == "documents.rb:#{__LINE__ - 4}"
  end
  pool.close
ensure
  Process.kill(:KILL, pid)
  server.stop
end
# Needs the standard library.
