# Buffers of 4 MiB and more ask for huge pages, and no longer do when they are gone: as the kernel shows it, where it gives them to those who ask.
on_request = File.read("/sys/kernel/mm/transparent_hugepage/enabled").include?("[madvise]") rescue false
asks = on_request && defined?(RubyVM::Channel)
# KiB of mappings with huge pages on request.
advised = lambda do
  size = 0
  File.foreach("/proc/self/smaps").sum do |line|
    size = line[/\d+/].to_i if line.start_with?("Size:")
    line.start_with?("VmFlags:") && line.split.include?("hg") ? size : 0
  end
end
def held(advised)
  list = Array.new(4 << 20, 7)
  text = "x" * (12 << 20)
  [list.size, text.size, advised.call]
end
before = advised.call
*sizes, while_held = held(advised)
p sizes, !asks || while_held - before >= 30 << 10
small = Array.new(2000) { "y" * 1000 }
p small.size, !asks || advised.call - before >= 0
20.times { GC.start; break if advised.call - before < 8 << 10 }
p !asks || advised.call - before < 8 << 10
