# What becomes of chilled Strings in other VMs and images: they arrive as plain ones.
$VERBOSE = false
short = Object.new
def short.write(*texts) = texts.join("").gsub(%r{\S*/(\w+\.rb)}, '\1').then { |t| $stdout.write(t) }
$stderr = short
Warning[:deprecated] = true
LIST = ["kept", :sym.to_s, +"plain", "frozen".freeze]
long = "x" "y"
vm = RubyVM.fork("sent", LIST) do |s, list|
  Warning[:deprecated] = true
  r = LIST.map(&:frozen?) + list.map(&:frozen?) + [s.frozen?]
  LIST[0] << "1"
  LIST[1] << "2"
  list[0] << "3"
  s << "4"
  [r, LIST, list, s]
end
p vm.value
p LIST, LIST.map(&:frozen?)
r = Ractor.new("abc", +"d") do |a, b|
  a << b
  [a, "literal".frozen?]
end
p r.value
port = Ractor::Port.new
moved = "moved"
q = Ractor.new(port) { |out| out << (receive << "!") }
q.send(moved, move: true)
p port.receive
begin
  moved.size
rescue Ractor::MovedError
  puts "moved away"
end
frozen = Ractor.make_shareable(["a", { "b" => "c" }])
p frozen[0].frozen?, frozen[1].values[0].frozen?
p Ractor.new(frozen) { |f| f.flatten.map(&:frozen?) }.value
LIST[0] << "5"
LIST[1] << "6"
long << "z"
p LIST, long
