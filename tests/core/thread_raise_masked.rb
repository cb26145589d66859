# What a thread raises in itself waits as long as its masks say, as what others raise.
def caught
  yield
rescue Exception => e
  puts "#{e.class}: #{e.message}"
end

caught do
  Thread.handle_interrupt(RuntimeError => :never) do
    Thread.current.raise("later")
    p Thread.pending_interrupt?, Thread.current.pending_interrupt?(RuntimeError), Thread.current.pending_interrupt?(TypeError)
    puts "still here"
  end
  puts "not reached"
end

caught do
  Thread.handle_interrupt(RuntimeError => :never) do
    caught { Thread.current.raise(TypeError, "no mask for this class") }
    Thread.current.raise("inside")
    caught { Thread.handle_interrupt(RuntimeError => :immediate) { puts "not reached" } }
    p Thread.pending_interrupt?
  end
  puts "after"
end

caught do
  Thread.handle_interrupt(Exception => :never) do
    Thread.current.raise("first")
    Thread.current.raise("second")
    begin
      Thread.handle_interrupt(Exception => :on_blocking) { sleep }
    rescue => e
      puts "blocking: #{e.message}"
    end
    p Thread.pending_interrupt?
  end
end

# An interrupt that is put off once more from where it arrived.
caught do
  Thread.handle_interrupt(Interrupt => :never) do
    begin
      Thread.current.raise(Interrupt, "again")
      Thread.handle_interrupt(Interrupt => :on_blocking) { Thread.new {}.join; sleep 0.001 }
    rescue Interrupt => e
      Thread.current.raise(e)
      puts "put off"
    end
    puts "work done"
  end
end
caught { Thread.current.raise(ArgumentError, "at once") }
