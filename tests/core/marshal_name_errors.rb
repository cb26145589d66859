# Dumps of NameErrors leave out whose name it was, so that they are not refused because of it; CRuby's hold a class of its own for the message.
class Holder
  def initialize = @lock = Mutex.new
end
error = (Holder.new.nothing rescue $!)
back = Marshal.load(Marshal.dump(error))
p back.class, back.name, back.message == error.message
p (back.receiver rescue $!.class)
error = ({ a: 1 }.fetch(:b) rescue $!)
back = Marshal.load(Marshal.dump(error))
p back.key, back.receiver == { a: 1 }, back.message
p (Marshal.dump({ Mutex.new => 1 }.tap { |h| h.fetch(:b) }) rescue Marshal.dump($!)) rescue p $!.class
back = Marshal.load("\x04\bo:\x0ENameError\a:\tmesgIu:\x17NameError::message\x0Eno name x\x06:\x06ET:\tname:\x06x".b)
p back, back.name, back.message.encoding
p (Marshal.load("\x04\bIu:\x0FNo::Such::C\x06x\x06:\x06ET".b) rescue $!.class)
