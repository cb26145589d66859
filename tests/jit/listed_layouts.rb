# Instance variables of classes and of the core's objects, of which machine code looks at the list once for a stretch of code: they come, go, move and change meanwhile.
class Setting
  @a = 1
  @b = 2
  class << self
    def sum(n)
      s = 0
      i = 0
      while i < n
        s += @a
        s += @b
        s -= @a
        yield i if i % 500 == 0
        i += 1
      end
      s
    end
    def writes(n)
      i = 0
      while i < n
        @a += 1
        @b = @a + @b
        @late = i if i > n - 3
        i += 1
      end
      [@a, @b, @late, @never]
    end
    # Others of the same self, inlined.
    def a = @a
    def b = @b
    def both = [@a, @b, @c]
    def c=(v)
      @c = v
    end
    def adds(k) = instance_variable_set(:"@v#{k}", k)
    def mixed(n)
      r = nil
      i = 0
      while i < n
        x = @a
        self.c = i
        y = @b
        z = both
        w = @c
        r = [x, y, z, w, @d ||= i]
        i += 1
      end
      r
    end
  end
end
p Setting.sum(4000) {}
p Setting.sum(4000) { |i| Setting.instance_variable_set(:@b, i) }
p Setting.sum(4000) { |i| Setting.adds(i) }
p((Setting.sum(4000) { |i| Setting.remove_instance_variable(:@a) if i == 2000 } rescue $!.class))
Setting.instance_variable_set(:@a, 5)
p Setting.sum(4000) { |i| Setting.instance_variable_set(:@a, i * 1.5) if i == 1500 }
p Setting.instance_variable_get(:@a)
Setting.instance_variable_set(:@a, 5)
p Setting.writes(3000), Setting.writes(10)
p Setting.mixed(3000), Setting.mixed(10)
p Setting.instance_variables.first(4), Setting.both, [Setting.a, Setting.b]

# One method, selves of all kinds.
module Reads
  def set(a, b)
    @a = a
    @b = b
    self
  end
  def read(n)
    s = 0
    i = 0
    while i < n
      s += @a
      s += @b
      s += 1 if @none
      i += 1
    end
    s
  end
  def once = @b
end
class Plain; include Reads; end
class Words < Array; include Reads; end
class Other; extend Reads; end
module Options; extend Reads; end
list = [Plain.new.set(1, 2), Words.new.set(3, 4), Other.set(5, 6), Options.set(7, 8), Class.new { extend Reads }.set(9, 10), Object.new.extend(Reads).set(0, 1)]
p list.map { |o| o.read(3000) }, 50.times.map { |k| list[k % 6].read(3) }.sum
once = 0
6000.times { |k| once += list[k % 6].once }
p once
many = (0...20).map { |k| c = Class.new { extend Reads }; k.times { |j| c.instance_variable_set(:"@x#{j}", j) }; c.set(k, 1) }
p many.map { |c| c.read(200) }, many.map(&:once).sum
nest = Class.new do
  @a = 1
  @b = 2
  def self.outer(n, other)
    s = 0
    i = 0
    while i < n
      s += @a
      s += other.once + other.once
      s += @b
      i += 1
    end
    s
  end
  extend Reads
end
p nest.outer(3000, Other), nest.outer(3000, nest), nest.outer(3000, Plain.new.set(1, 9))
Other.freeze
def tries(o, n)
  n.times { |i| o.set(i, i) rescue return i }
end
p tries(Other, 3000), Other.read(3000), tries(Options, 3000), Options.read(10)
told = RubyVM.fork do
  before = Setting.both
  [before.size, Setting.writes(3000).first, Setting.mixed(2000).first]
end.value if RubyVM.respond_to?(:fork)
a = Setting.a
p told ? told == [3, a + 3000, a + 3000] : true, Setting.a == a

# Written again and again, by a class and by an Array: until it is frozen, gets others, loses one.
class Written
  @a = @b = 0
  class << self
    def write(n)
      i = 0
      while i < n
        @a = i
        @b = @a
        @a = [i]
        yield i if i == n / 2
        @a = @b
        i += 1
      end
      [@a, @b, @late]
    end
  end
end
class WrittenArray < Array
  def write(n)
    @a ||= 0
    @b ||= 0
    i = 0
    while i < n
      @a = i
      @b = @a
      @a = "#{i}"
      yield i if i == n / 2
      @a = @b
      i += 1
    end
    [@a, @b, @late]
  end
end
[Written, WrittenArray.new].each do |o|
  p o.write(3000) {}
  p o.write(3000) { o.instance_variable_set(:@late, 1) }
  p o.write(3000) { o.remove_instance_variable(:@a) }
  p o.write(3000) { GC.start }
  p((o.write(3000) { o.freeze } rescue $!.class))
  p o.instance_variable_get(:@b)
end
