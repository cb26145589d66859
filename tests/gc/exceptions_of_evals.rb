# An exception keeps the code of the eval that it was raised in: its lines, places and variables are asked for long after.
def raised(text)
  eval(text, nil, "text", 5)
rescue StandardError, NotImplementedError => e
  e
end
list = [
  raised("\n\nraise 'x'"),
  raised("some_local = 1; some_lokal"),
  raised("proc { [1].each { nil.foo } }.call"),
  raised("eval('def zz = raise(IOError); zz', nil, 'inner', 9)"),
]
200.times { |i| eval("x#{i} = proc { #{i} }; x#{i}.call") }
GC.start
junk = (1..3000).map { |i| "x#{i}" }
GC.start
p junk.size
list.each do |e|
  p e.class, e.backtrace.grep(/text|inner/), (e.backtrace_locations || []).map(&:lineno).first
  puts e.full_message(highlight: false).lines.first
end
p (defined?(DidYouMean) ? list[1].detailed_message(highlight: false).lines.last : "")
