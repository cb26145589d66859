# What stands outside the heap counts towards the memory limit: ENV, programs of Regexps. What is gone again is no reason.
SMALL = ENV["ZAKURO_TEST_SCALE"] == "small"
LIMIT = SMALL ? 4_000_000 : 20_000_000
TIMES = SMALL ? 400 : 20_000
def limited(name, &job)
  vm = RubyVM.fork(name: name, memory_limit: LIMIT, &job)
  puts "#{name}: #{vm.value.inspect}"
rescue RubyVM::Error => e
  puts "#{name}: #{vm.report[:limit] || e.message}"
end
$stderr.reopen(File::NULL, "w")

# No more than the limit has room for, and it ends within what all of them may take.
def refused
  n = 0
  loop { yield n += 1 }
rescue NoMemoryError
  n
end
limited("variables") { refused { |i| ENV["n#{i}"] = "y" * 20_000 }.between?(50, LIMIT / 10_000) }
limited("regexps") { a = []; refused { |i| a << Regexp.new("(abc|def)#{i}x{1,9}[a-z]+") }.between?(50, LIMIT / 200) }
limited("variables set again") { TIMES.times { |i| ENV["n"] = "y" * (i % 2000) }; :done }
limited("variables deleted") { TIMES.times { |i| ENV["n#{i}"] = "y" * 1000; ENV.delete("n#{i}") }; ENV["n1"] }
limited("variables cleared") { 20.times { 50.times { |i| ENV["n#{i}"] = "y" * 2000 }; ENV.clear }; ENV.size }
limited("variables replaced") { 50.times { ENV.replace("a" => "x" * 50_000, "b" => "x" * 50_000) }; ENV.size }
limited("forgotten regexps") { TIMES.times { |i| Regexp.new("(abc|def)#{i}x{1,9}[a-z]+") }; :done }
