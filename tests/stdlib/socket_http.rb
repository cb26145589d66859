# What stands on sockets, against a server in the same program: net/http, open-uri, drb, resolv, ipaddr. Recorded with the reference.
require "net/http"
require "open-uri"
require "drb"
require "resolv"
require "ipaddr"

server = TCPServer.new("127.0.0.1", 0)
base = "http://127.0.0.1:#{server.addr[1]}"
Thread.new do
  loop do
    Thread.new(server.accept) do |s|
      while (line = s.gets)
        verb, path = line.split
        head = {}
        while (h = s.gets) && h != "\r\n"
          k, v = h.chomp.split(": ", 2)
          head[k.downcase] = v
        end
        body = head["content-length"] ? s.read(head["content-length"].to_i) : ""
        case path
        when "/chunked"
          s.write "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
          3.times { |i| part = "part#{i}" * 1000; s.write "#{part.size.to_s(16)}\r\n#{part}\r\n" }
          s.write "0\r\n\r\n"
        when "/redirect" then s.write "HTTP/1.1 302 Found\r\nLocation: /hello\r\nContent-Length: 0\r\n\r\n"
        when "/never" then s.read
        else
          out = "#{verb} #{path} #{body.bytesize} #{head["x-a"]}"
          s.write "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: #{out.bytesize}\r\n\r\n#{out}"
        end
        break if head["connection"] == "close"
      end
      s.close
    end
  end
end

p Net::HTTP.get(URI("#{base}/hello"))
p Net::HTTP.get(URI("#{base}/chunked")).size
p Net::HTTP.post(URI("#{base}/post"), "x" * 300_000, "X-A" => "b").body
Net::HTTP.start("127.0.0.1", server.addr[1], read_timeout: 0.1, max_retries: 0) do |http|
  r = http.get("/a")
  p r.code, r.body, r["content-type"], http.get("/b").body
  begin
    http.get("/never")
  rescue => e
    p e.class
  end
end
p URI.open("#{base}/redirect").read
p URI.open("#{base}/hello") { |f| [f.status, f.charset, f.content_type] }
p 30.times.map { |i| Thread.new { Net::HTTP.get(URI("#{base}/t#{i}")) } }.map(&:value).uniq.size
begin
  Net::HTTP.get(URI("http://127.0.0.1:1/"))
rescue => e
  p e.class
end

class Front
  def add(a, b) = a + b
  def each = 3.times { yield _1 }
  def boom = raise("no")
end
service = DRb.start_service("druby://127.0.0.1:0", Front.new)
front = DRbObject.new_with_uri(service.uri)
seen = []
front.each { seen << _1 }
p front.add(1, 2), seen, (front.boom rescue [$!.class, $!.message])
p 20.times.map { |i| Thread.new { front.add(i, 1) } }.sum(&:value)
service.stop_service

names = UDPSocket.new
names.bind("127.0.0.1", 0)
type = Resolv::DNS::Resource::IN::A
Thread.new do
  loop do
    q, from = names.recvfrom(512)
    asked = Resolv::DNS::Message.decode(q)
    answer = Resolv::DNS::Message.new(asked.id)
    answer.qr = answer.rd = answer.ra = 1
    asked.each_question { |n, t| answer.add_question(n, t); answer.add_answer(n, 60, type.new("10.1.2.3")) if t == type }
    names.send(answer.encode, 0, from[3], from[1])
  end
end
dns = Resolv::DNS.new(nameserver_port: [["127.0.0.1", names.addr[1]]], search: [], ndots: 1)
p dns.getaddress("www.example.test").to_s, dns.getresources("www.example.test", type).map { |r| r.address.to_s }
p IPAddr.new("10.0.0.0/8").include?("10.3.4.5"), IPAddr.new("::1").hton, IPAddr.new_ntoh("\x7f\0\0\1".b).to_s
# Needs the standard library.
