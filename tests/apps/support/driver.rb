# Runs an unmodified program of tests/apps in many VMs at once. What each prints must be what the reference Ruby printed when it ran the
# program alone (NAME.out), and a program whose caches are already filled must go on from them in every child as it does alone.

module Driver
  COUNT = ENV["ZAKURO_TEST_SCALE"] == "small" ? 2 : 8
  HOME = File.expand_path("..", __dir__)

  module_function

  # What the block prints, by way of a file that has no name.
  def capture
    before = $stdout
    path = "/tmp/zakuro-apps-#{$$}-#{RubyVM.current.id}"
    $stdout = File.open(path, "w+")
    File.unlink(path)
    yield
    $stdout.rewind
    $stdout.read
  ensure
    $stdout = before
  end

  def recorded(name) = File.read("#{HOME}/#{name}.out", encoding: "UTF-8").split("\n", 2).last

  def check(what, expected, results)
    wrong = results.reject { |text| text == expected }
    return puts("#{what}: equal") if wrong.empty?
    puts "#{what}: #{wrong.size} of #{results.size} differ"
    a, b = expected.lines, wrong.first.to_s.lines
    at = (0..a.size).find { |i| a[i] != b[i] }
    puts "  line #{at + 1}: #{a[at].inspect}", "  instead: #{b[at].inspect}"
  end

  def forks(&block) = Array.new(COUNT) { RubyVM.fork { Driver.capture(&block) } }.map(&:value)

  def ractors(&block) = Array.new(COUNT) { Ractor.new { Driver.capture(&block) } }.map(&:value)

  def vms(file)
    code = "require #{__FILE__.dump}; RubyVM::ARGV[0] << Driver.capture { load RubyVM::ARGV[1] }"
    list = Array.new(COUNT) { RubyVM::Channel.new }
    vms = list.map { |channel| RubyVM.new("app", "-e", code).start(channel, file) }
    vms.each(&:join)
    list.map(&:recv)
  end

  # The block is the program's entry: one more round of it.
  def run(name, &round)
    file = "#{HOME}/#{name}.rb"
    expected = recorded(name)
    check("forks", expected, forks { load file })
    check("Ractors", expected, ractors { load file })
    check("VMs", expected, vms(file))
    check("alone", expected, [capture { load file }])
    forked = forks(&round)
    threads = ractors(&round)
    # Sequentially, after all of them: nothing of theirs is seen here.
    alone = capture(&round)
    puts "warm round prints #{alone.lines.size.clamp(0, 10)}+ lines"
    check("warm forks", alone, forked)
    check("warm Ractors", alone, threads)
  end
end
