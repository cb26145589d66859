# Servers for tests: real ones, on ports and in folders of their own; and a proxy whose connections can be cut.
require "fileutils"
require "socket"

# What a block answers, or how it ends, without the numbers of ports.
def tried
  yield
rescue Exception => e
  [e.class, e.message.gsub(/:\d{4,5}\b/, ":PORT")]
end

class Servers
  PROGRAMS = { "redis" => %w[redis-server], "nats" => %w[nats-server /usr/sbin/nats-server] }.freeze
  attr_reader :port, :kind

  # nil when the program is not installed.
  def self.start(kind, dir, **options)
    program = PROGRAMS.fetch(kind).find { |name| name.start_with?("/") ? File.executable?(name) : ENV["PATH"].split(":").any? { |d| File.executable?(File.join(d, name)) } }
    program && new(kind, program, dir, **options)
  end

  def self.free_port = TCPServer.open("127.0.0.1", 0) { |s| s.addr[1] }

  def initialize(kind, program, dir, password: nil, certificate: nil, keep: false, limit: nil, config: nil)
    @kind, @program, @password, @certificate, @keep, @limit, @config = kind, program, password, certificate, keep, limit, config
    @dir = File.join(dir, kind)
    Dir.mkdir(@dir) unless Dir.exist?(@dir)
    @port = Servers.free_port
    run
  end

  def scheme = @certificate ? { "redis" => "rediss", "nats" => "tls" }[@kind] : @kind
  def url(name, secret = nil) = "#{scheme}://#{"#{secret}@" if secret}127.0.0.1:#{@port}/#{name}"

  def run
    command = @kind == "redis" ? redis : nats
    @pid = Process.spawn(*command, out: File.join(@dir, "log"), err: %i[child out], pgroup: true)
    100.times do
      TCPSocket.open("127.0.0.1", @port).close
      return
    rescue SystemCallError
      sleep(0.05)
    end
    raise "#{@program} does not start: #{File.read(File.join(@dir, "log"))}"
  end

  def stop(signal = :KILL)
    return unless @pid
    Process.kill(signal, @pid)
    Process.wait(@pid)
    @pid = nil
  rescue SystemCallError
    @pid = nil
  end

  # Starts again with nothing of what it had.
  def forget
    stop
    Dir.each_child(@dir) { |name| FileUtils.rm_rf(File.join(@dir, name)) }
    run
  end

  # It is there, and says nothing.
  def suspend = @pid && Process.kill(:STOP, @pid)
  def continue = @pid && Process.kill(:CONT, @pid)

  private

  def redis
    port = @certificate ? ["--port", "0", "--tls-port", @port.to_s, "--tls-cert-file", @certificate[0], "--tls-key-file", @certificate[1], "--tls-auth-clients", "no"] : ["--port", @port.to_s]
    keep = @keep ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--save", "", "--appendonly", "no"]
    [@program, "--bind", "127.0.0.1", *port, "--dir", @dir, *keep, *(@password ? ["--requirepass", @password] : []), *(@limit ? ["--proto-max-bulk-len", @limit] : [])]
  end

  def nats
    tls = @certificate ? ["--tls", "--tlscert", @certificate[0], "--tlskey", @certificate[1]] : []
    [@program, "-js", "-a", "127.0.0.1", "-p", @port.to_s, "-sd", @dir, *tls, *(@password ? ["--user", "someone", "--pass", @password] : []), *(@config ? ["-c", @config] : [])]
  end
end

# Between clients and a server, in a VM of its own.
class Proxy
  attr_reader :port, :cuts

  def self.start(to) = new(to)

  def initialize(to)
    @orders, @answers = RubyVM::Channel.new, RubyVM::Channel.new
    @cuts = 0
    @vm = RubyVM.fork(to, @orders, @answers, name: "proxy") { |*given| Proxy.run(*given) }
    @port = @answers.recv
  end

  # Cuts this share of the connections.
  def cut(share)
    @orders << share
    @cuts += @answers.recv
  end

  def stop = @vm.kill

  def self.run(to, orders, answers)
    server = TCPServer.new("127.0.0.1", 0)
    answers << server.addr[1]
    pairs = []
    Thread.new do
      while (share = orders.recv)
        chosen = pairs.select { rand < share }
        chosen.each { |pair| pair.each { |s| s.close rescue nil } }
        answers << chosen.size
      end
    end
    loop do
      client = server.accept
      begin
        upstream = TCPSocket.new("127.0.0.1", to)
      rescue SystemCallError
        client.close
        next
      end
      pair = [client, upstream]
      pairs << pair
      [pair, pair.reverse].each do |from, into|
        Thread.new do
          Thread.current.report_on_exception = false
          loop { into.write(from.readpartial(65_536)) }
        rescue SystemCallError, IOError
          pair.each { |s| s.close rescue nil }
          pairs.delete(pair)
        end
      end
    end
  end
end
