# Variables of fibers, inherited by fibers and threads.
Fiber[:a] = 1
p Thread.new { [Fiber[:a], Fiber.current.storage] }.value
Thread.new { Fiber[:a] = 2; p Thread.new { Fiber[:a] }.value; p Fiber.new { Fiber[:a] }.resume }.join
p Fiber[:a]
p Fiber.new { Thread.new { Fiber[:a] }.value }.resume
p Fiber.new(storage: {b: 1}) { Thread.new { [Fiber[:a], Fiber[:b]] }.value }.resume
e = Enumerator.new { |y| y << Fiber[:a]; Fiber[:a] = 9; y << Fiber[:a] }
p e.next, e.next, Fiber[:a]
p Thread.new { Thread.new { Fiber[:a] }.value }.value
t = Thread.new { Thread.pass; Fiber[:a] }
Fiber[:a] = 5
p t.value
[1, {1=>2}, {a: 1}.freeze, {"a"=>1}, false, Object.new].each { |s|
  begin
    Fiber.new(storage: s) { }
    p :ok
  rescue => e
    p e.class, e.message.sub(/0x\h+/, "")
  end
}
p Fiber.new(storage: nil) { [Fiber[:a], Fiber.current.storage] }.resume
p Fiber.new(storage: true) { Fiber[:a] = 77; Fiber[:a] }.resume, Fiber[:a]
begin; Fiber[1]; rescue => e; p e; end
begin; Fiber[Object.new] = 1; rescue => e; p e.class; end
begin; Fiber["a"]; rescue => e; p e; end
f = Fiber.new { }
begin; f.storage; rescue => e; p e; end
begin; f.storage = {}; rescue => e; p e; end
begin; Fiber.current.storage = 1; rescue => e; p e; end

p Thread.new { Fiber[:z] = 1; Fiber.current.storage }.value
# The fiber of an Enumerator inherits its user's variables, and changes its own.
Fiber[:n] = 0
e = Enumerator.new { |y| 3.times { Fiber[:n] += 1; y << :x } }
e.next
e.next
p Fiber[:n]
