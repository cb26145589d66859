# Where address space is limited (ulimit -v), malloc fails: the VM that asks gets NoMemoryError, or ends; never the process.
PROGRAM = <<~'RUBY'
  ways = {
    array: -> { a = []; loop { a << 1 } },
    text: -> { s = +"x"; loop { s << s } },
    hash: -> { h = {}; i = 0; loop { h[i += 1] = i } },
  }
  ways.each do |name, way|
    vm = RubyVM.fork do
      way.call
    rescue NoMemoryError, ThreadError => e
      e.class.name
    end
    outcome = begin; vm.value; rescue RubyVM::Error; vm.report[:exception]; end
    puts "#{name}: #{%w[NoMemoryError ThreadError].include?(outcome) || outcome}, #{RubyVM.fork { 6 * 7 }.value}"
  end
RUBY
exe = File.readlink("/proc/self/exe")
puts IO.popen(["sh", "-c", 'ulimit -v 700000; exec "$0" -e "$1" 2>&1', exe, PROGRAM], &:read)
p $?.exitstatus
# The same where what a process may write to is limited (ulimit -d).
puts IO.popen(["sh", "-c", 'ulimit -d 700000; exec "$0" -e "$1" 2>&1', exe, PROGRAM], &:read)
p $?.exitstatus
