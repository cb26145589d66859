# What can't be saved, and files that are refused.
require "tmpdir"
require "digest"
require "socket"
EXE = File.readlink("/proc/self/exe")
Dir.mktmpdir do |dir|
  file = "#{dir}/x.image"
  tell = ->(what = nil, &block) do
    block.()
    puts "#{what} passed"
  rescue Exception => e
    puts [what, e.class, e.message.gsub(dir, "DIR").gsub(/build \h+/, "build HEX")].compact.join(": ")
  end
  tries = {
    "an open file in a constant" => -> { LOG = File.open(__FILE__) },
    "in an object" => -> { $holder = {list: [File.open(__FILE__)]} },
    "in a class" => -> { Class.new.tap { |c| Object.const_set(:Holder, c); c.class_variable_set(:@@io, File.open(__FILE__)) } },
    "a socket" => -> { SOCKET = UNIXSocket.pair },
    "a channel" => -> { CHANNEL = RubyVM::Channel.new },
    "the handle of a VM" => -> { VM = RubyVM.current },
    "a directory" => -> { DIRECTORY = Dir.new(".") },
    "an image" => -> { IMAGE = RubyVM::Image.capture },
    "in a closure" => -> { io = File.open(__FILE__); define_method = Object.define_method(:closed_over) { io } },
  }
  tries.each do |what, make|
    RubyVM.fork(what) do |name|
      tries[name].()
      tell.(name) { RubyVM::Image.capture.save(file) }
    end.join
  end
  p Dir.children(dir)
  tell.("a block's own") { io = File.open(__FILE__); RubyVM::Image.capture.save(file) { io.read } }
  puts "what lives on as after a fork"
  RubyVM.fork do
    FIBER = Fiber.new { 1 }.tap(&:resume)
    ENUM = [1, 2].each.tap(&:next)
    CLOSED = File.open(__FILE__).tap(&:close)
    OUT = $stdout
    tell.("fibers, streams") { RubyVM::Image.capture.save(file) }
  end.join
  RubyVM::Image.load(file).spawn { OUT.puts [ENUM.next, CLOSED.closed?, OUT.equal?($stdout), OUT.fileno, (FIBER.resume rescue $!.class)].inspect; OUT.flush }.join

  puts "paths"
  tell.("no directory") { RubyVM::Image.capture.save("#{dir}/no/x") }
  tell.("a directory") { RubyVM::Image.capture.save(dir) }
  tell.("NUL") { RubyVM::Image.capture.save("a\0b") }
  tell.("no file") { RubyVM::Image.load("#{dir}/none") }
  tell.("directory") { RubyVM::Image.load(dir) }
  tell.("device") { RubyVM::Image.load("/dev/zero") }
  tell.("no path") { RubyVM::Image.load(1) }
  p Dir.children(dir)

  puts "files"
  class Kept
    def initialize = @list = ["a" * 100, {x: 1.5}, 2**80]
    def call = @list
  end
  $kept = Kept.new
  RubyVM::Image.capture.save(file)
  good = File.binread(file)
  p RubyVM::Image.load(file).spawn { $kept.call.size }.value
  attempt = ->(what, bytes) do
    File.binwrite("#{dir}/bad", bytes)
    tell.(what) { RubyVM::Image.load("#{dir}/bad") }
  end
  attempt.("empty", "")
  attempt.("a program", "puts 1\n")
  attempt.("another format", good.dup.tap { |b| b.setbyte(8, 9) })
  attempt.("magic alone", good[0, 8])
  attempt.("cut off", good[0, good.size / 2])
  attempt.("one byte less", good[0..-2])
  attempt.("one byte more", good + "x")
  attempt.("damaged", good.dup.tap { |b| b.setbyte(b.size / 2, b.getbyte(b.size / 2) ^ 1) })
  length = good[12, 4].unpack1("V")
  writer = 16 + length
  attempt.("another binary", good.dup.tap { |b| b.setbyte(writer, b.getbyte(writer) ^ 255) })
  attempt.("another version", good.dup.tap { |b| b[16, 6] = "e\e[31m"; b.setbyte(writer, b.getbyte(writer) ^ 255) }.then { |b| b })
  attempt.("a longer version than there is", good.dup.tap { |b| b[12, 4] = [1 << 31].pack("V") })
  puts IO.popen([EXE, "--image", "#{dir}/bad", "-e", "1", err: [:child, :out]], &:read).gsub(dir, "DIR"), $?.exitstatus
  system(EXE, "--image", "#{dir}/none", "-e", "1", err: "#{dir}/err")
  puts File.read("#{dir}/err").gsub(dir, "DIR"), $?.exitstatus
  File.open("#{dir}/huge", "w") { |f| f.truncate(3 << 30) }
  tell.("huge") { RubyVM::Image.load("#{dir}/huge") }
  File.chmod(0, file) && tell.("not readable") { Process.uid == 0 ? raise(Errno::EACCES, file) : RubyVM::Image.load(file) }
  File.chmod(0644, file)

  puts "made"
  RubyVM.fork(dir) do |at|
    File.umask(0o077)
    RubyVM::Image.capture.save("#{at}/private")
  end.join
  p File.stat("#{dir}/private").mode & 0o777
  # What somebody laid where the file is written first is taken away, not written into.
  trap = Dir.mkdir("#{dir}/shared") && File.open("#{dir}/open", "w")
  tids = Dir.children("/proc/#{$$}/task")
  tids.each { |t| File.link("#{dir}/open", "#{dir}/shared/.image.#{$$}.#{t}.tmp") }
  RubyVM::Image.capture.save("#{dir}/shared/mine")
  p trap.size, File.size?("#{dir}/shared/mine") ? :made : :missing, Dir.children("#{dir}/shared").size == tids.size
  trap.close

  puts "memory"
  big = "#{dir}/big"
  RubyVM.fork { $big = (1..60_000).map { |i| "text #{i} " * 4 }; RubyVM::Image.capture.save(big) }.join
  RubyVM.new("small", "-e", "begin; RubyVM::Image.load(#{big.dump}); rescue NoMemoryError => e; p e.class; end", memory_limit: 4 << 20).start.join
  p RubyVM.new("enough", "-e", "RubyVM::Image.load(#{big.dump}).spawn { $big.size }.value", memory_limit: 256 << 20).start.value
  v = RubyVM.new("counted", "-e", "$stderr = File.open(File::NULL, 'w'); list = []; loop { list << RubyVM::Image.load(#{big.dump}) }", memory_limit: 200 << 20).start
  p v.tap { _1.join rescue puts $!.message }.report[:limit]
end
