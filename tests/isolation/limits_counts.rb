# thread_limit: and fd_limit: how many threads and descriptors a VM may have at a time.
def tell(name, **limits, &job)
  puts "#{name}: #{RubyVM.fork(**limits, &job).value.inspect}"
rescue RubyVM::Error => e
  puts "#{name}: #{e.message}"
end
$stderr.reopen(File::NULL, "w")

tell("threads", thread_limit: 5) do
  a = []
  error = (loop { a << Thread.new { sleep } } rescue $!)
  a.pop.kill.join
  again = Thread.new { 7 }.value
  [error.class, error.message, a.size, Thread.list.size, again, (Thread.new { sleep } && 1)]
end
tell("one", thread_limit: 1) { [Thread.list.size, (Thread.new {} rescue $!.message), Fiber.new { 3 }.resume, [1, 2].each.next] }
tell("made again and again", thread_limit: 3) { 200.times.sum { |i| Thread.new { i }.value } }
tell("inherited", thread_limit: 2) do
  job = -> { a = []; (loop { a << Thread.new { sleep } } rescue $!.message) }
  # One after the other: all of them together may have what their maker has.
  [RubyVM.fork(&job).value, RubyVM.fork(thread_limit: 100, &job).value, RubyVM.fork(thread_limit: 1, &job).value, RubyVM::Image.capture.spawn(thread_limit: 100, &job).value]
end
puts "new: #{RubyVM.new("n", "-e", "Thread.new {}", thread_limit: 1).start.join rescue $!.message[/thread_limit of 1 reached \(ThreadError\)/]}"
puts "ractor: #{Ractor.new(thread_limit: 1) { Thread.new {} rescue $!.message }.value}"
puts "unlimited: #{Array.new(50) { Thread.new { 1 } }.sum(&:value)}"

FULL = lambda do
  before = []
  error = (loop { before << File.open("/dev/null") } rescue $!)
  closed = before.size
  before.pop.close
  [error.class, error.message, closed, File.open("/dev/null") { 1 }]
end
tell("files", fd_limit: 8, &FULL)
tell("garbage", fd_limit: 8) { 100.times { File.open("/dev/null") }; :collected }
WAYS = {
  pipe: -> { IO.pipe },
  dup: ->(_ = nil) { ($one ||= File.open("/dev/null")).dup },
  sysopen: -> { IO.sysopen("/dev/null") },
  for_fd: -> { IO.for_fd(IO.sysopen("/dev/null")) },
  dir: -> { Dir.new("/") },
  popen: -> { IO.popen("cat", "r+") },
  reopen: -> { File.open("/dev/null").reopen("/dev/zero") },
  message: -> { ($channel ||= RubyVM::Channel.new) << ($one ||= File.open("/dev/null")) },
  copy: -> { c = RubyVM::Channel.new; c << ($one ||= File.open("/dev/null")); c.recv },
  image: -> { $one ||= File.open("/dev/null"); RubyVM::Image.capture },
}
WAYS.each do |name, way|
  tell(name, fd_limit: 10) do
    a = []
    before = Dir.children("/proc/self/fd").size
    20.times { a << way.call }
    [a.size, Dir.children("/proc/self/fd").size - before < 11]
  rescue SystemCallError, TypeError => e
    [e.class, a.size < 11]
  end
end
tell("sockets", fd_limit: 10) do
  require "socket"
  server = TCPServer.new("127.0.0.1", 0)
  a = [server]
  [(loop { a << TCPSocket.new("127.0.0.1", server.local_address.ip_port) << server.accept } rescue $!.class), a.size]
end
tell("socket pairs", fd_limit: 10) { require "socket"; a = []; [(loop { a << UNIXSocket.pair } rescue $!.class), a.size] }
tell("inherited", fd_limit: 8) { [{}, { fd_limit: 100 }, { fd_limit: 4 }].map { |limit| RubyVM.fork(**limit, &FULL).value[1, 2] } }
tell("closed again", fd_limit: 4) { 300.times { File.open("/dev/null").close; IO.pipe.each(&:close); Dir.open("/").close }; :fine }
kept = Array.new(20) { File.open("/dev/null") }
tell("what the maker has open", fd_limit: 30) { [kept.size, kept.all? { |f| f.read == "" }] }
%i[thread_limit fd_limit].each { |k| puts [0, -1, "x"].map { |v| (RubyVM.fork(k => v) {} rescue "#{$!.class}: #{$!.message}") }.inspect }
