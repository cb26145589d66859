# Threads that wait at channels for ever: the deadlock is told each time that the main thread joins them, whichever way it waits.
def told
  yield
  "over"
rescue Exception => e
  e.message.lines.first.chomp
end

channel = RubyVM::Channel.new
3.times { puts told { Thread.new { channel.recv }.join } }
3.times { puts told { channel.recv } }
queue = Queue.new
3.times { puts told { queue.pop } }
