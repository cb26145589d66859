# A relative path of a UNIX socket is one in the VM's directory, wherever the process is.
require "socket"
require "tmpdir"

Dir.mktmpdir do |dir|
  vms = %w[one two].map do |name|
    Dir.mkdir("#{dir}/#{name}")
    RubyVM.fork(dir, name) do |dir, name|
      Dir.chdir("#{dir}/#{name}")
      server = UNIXServer.new("name")
      client = UNIXSocket.new("name")
      client << name
      client.close
      found = [Dir.children("."), server.path, server.addr, server.accept.read]
      # Datagrams, with and without data beside them.
      a = Socket.new(:UNIX, :DGRAM)
      a.bind(Addrinfo.unix("datagrams"))
      b = Socket.new(:UNIX, :DGRAM)
      b.send("sent #{name}", 0, Addrinfo.unix("datagrams"))
      b.sendmsg("message #{name}", 0, Addrinfo.unix("datagrams"))
      found + [a.recv(100), a.recv(100), a.local_address.unix_path, (UNIXSocket.new("missing") rescue $!.class)]
    end
  end
  vms.each { |vm| p vm.value }
  p Dir.children(dir).sort
  # One that goes up from the directory.
  Dir.chdir("#{dir}/one") { UNIXServer.new("../two/other").close }
  p Dir.children("#{dir}/two").sort
end
