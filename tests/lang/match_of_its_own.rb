# What a Thread or Fiber matches does not change `$~` and `$_` of the method that its block is written in, nor the other way round.
def both
  /a(.)/ =~ "ab"
  inner = []
  Fiber.new do
    inner << $~
    /x(.)/ =~ "xy"
    [1].each { inner << $1 }
    eval('inner << $1')
  end.resume
  Thread.new do
    inner << $1
    "pq" =~ /p(.)/
    1.times { inner << $1 }
    Thread.new { inner << $1; "rs" =~ /r(.)/; inner << $1 }.join
    inner << $1
  end.join
  [$1, inner]
end
p both

# Blocks that are only called there, not run as theirs, are the method's.
def called
  match = -> { "uv" =~ /u(.)/ }
  Thread.new(match) { |m| m.call; $1 }.value
end
p called

# Many threads of one method at once.
results = 8.times.map do |i|
  Thread.new do
    200.times.all? do |n|
      text = "t#{i}-#{n}"
      text =~ /t(\d+)-(\d+)/
      Thread.pass
      $1 == i.to_s && $2 == n.to_s
    end
  end
end.map(&:value)
p results
fibers = 3.times.map { |i| Fiber.new { 3.times { |n| "#{i}#{n}" =~ /(.)(.)/; Fiber.yield; (p [i, n, $~]) if $1 != i.to_s || $2 != n.to_s }; :ok } }
r = nil
4.times { r = fibers.map(&:resume) }
p r

# A method's own stay its own there.
def helper(s) = s =~ /(.)\z/ && $1
p Fiber.new { "abc" =~ /b/; [helper("xyz"), $~[0]] }.resume

$_ = "main"
p Thread.new { was = $_; $_ = "thread"; [was, $_] }.value, $_
