# Each program of docs/tutorial.md prints what stands below it there.
EXE = File.readlink("/proc/self/exe")
page = File.read("#{__dir__}/../../docs/tutorial.md")
programs = page.scan(/^```ruby\n(.*?)^```\n\n```text\n(.*?)^```\n/m)
puts "#{programs.size} of #{page.scan(/^```ruby$/).size} programs are tried"
programs.each_with_index do |(program, expected), i|
  got = IO.popen([EXE, "-", err: File::NULL], "r+") { |io| io.write(program); io.close_write; io.read }
  puts "#{i}: #{program.lines.first}", "expected:", expected, "got:", got unless got == expected
end
