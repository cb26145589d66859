# What a hostile call is made of: dice, the objects within reach, and what a callback does to them.

# Random numbers that depend on nothing but their seed: a call is found again by its name and number.
class Dice
  def initialize(text)
    @state = 0xcbf29ce484222325
    text.each_byte { |byte| @state = ((@state ^ byte) * 0x100000001b3) & 0xffffffffffffffff }
    4.times { below(2) }
  end

  def below(n)
    @state ^= (@state << 13) & 0xffffffffffffffff
    @state ^= @state >> 7
    @state ^= (@state << 17) & 0xffffffffffffffff
    (@state >> 11) % n
  end

  def pick(list) = list[below(list.size)]

  def once_in(n) = below(n) == 0
end

# The call is left: an Exception, since a builtin may rescue a StandardError and go on.
class Enough < Exception; end
class Boom < StandardError; end

class Stage
  # Callbacks after which a call is left: what walks an endless object ends here.
  CALLBACKS = 60
  BOOMS = [Boom, TypeError, ArgumentError, StopIteration, KeyError, NoMethodError, FrozenError, IOError, Encoding::CompatibilityError].freeze
  NUMBERS = [0, 1, 2, -1, 3, 7, 64, 300, -300, 70_000, 2**31, -2**31 - 1, 2**62, -2**62 - 1, 2**64, 2**70].freeze
  # What has content that natives may be looking at: mostly one of them is changed.
  CONTENTS = [String, Array, Hash, Set, Struct, IO, StringIO, IO::Buffer, StringScanner, Enumerator, ObjectSpace::WeakMap, ObjectSpace::WeakKeyMap, Thread::Queue].freeze
  FAR = NUMBERS.select { |n| n < 0 || n > 200 }.freeze
  TEXTS = ["", "a", "ab", "b,a c", "a" * 40, "é\u3042b", "%s %d", "0x1f", "12", "1/3", "\xff\xfeab", "a\nb\nc\n", "rw", "UTF-16LE", "@a", "Abc", "a-z", "C*", "\\1\\k<n>", "key=1", "long " * 1000].freeze

  attr_reader :dice, :callbacks, :changes, :scripts
  attr_accessor :armed, :again

  def initialize(dice)
    @dice = dice
    @targets = []
    @contents = []
    @callbacks = @changes = 0
    @armed = false
    # When it strikes: at one callback, at each, or at about every third.
    @when = dice.pick([0, 0, 1, 1, 2, 3, :each, :often])
    # What it mostly does: a change shows most of the faults.
    @how = dice.pick(%i[change change change all any any again])
    @depth = @acting = 0
  end

  def inspect = "#<Stage>"

  def reach(object)
    @targets << object if @targets.size < 24
    @contents << object if @contents.size < 24 && CONTENTS.any? { |kind| kind === object }
    object
  end

  attr_reader :targets
  attr_accessor :peer

  # Called by each callback of a hostile object or block.
  def strike
    return unless @armed
    nth = @callbacks
    @callbacks += 1
    raise Enough if nth > CALLBACKS
    due = case @when
          when :each then true
          when :often then @dice.once_in(3)
          else nth == @when
          end
    act if due
  end

  # A change may meet callbacks itself, which change something again, and that is all.
  def act
    return if @acting >= 2
    @changes += 1
    @acting += 1
    begin
      case @how
      when :change then change(target)
      when :all then @targets.dup.each { |target| change(target) }
      when :again then once_more
      else anything
      end
    ensure
      @acting -= 1
    end
    junk if @dice.once_in(2)
  end

  def anything
    case @dice.below(14)
    when 0, 1, 2 then change(target)
    when 3 then @targets.dup.each { |target| change(target) }
    when 4 then GC.start
    when 5 then 3.times { Thread.new { change(target) } } && Thread.pass
    when 6 then Thread.new { @targets.dup.each { |target| change(target) } }.join
    when 7 then raise @dice.pick(BOOMS), "boom"
    when 8 then throw :out, :thrown
    when 9 then once_more
    when 10 then target.freeze
    when 11 then Fiber.yield(:left) if @in_fiber
    when 12 then @scripts = Fiber.new { change(target); Fiber.yield; 1 }.resume
    else raise Enough
    end
  end

  attr_writer :in_fiber

  # The same call within the call.
  def once_more
    return if @depth >= 2 || !@again
    @depth += 1
    begin
      @again.call
    ensure
      @depth -= 1
    end
  end

  # What takes the place of freed cells and buffers.
  def junk
    @junk = (0...40).map { |i| "junk#{i}" * (i % 9) }
    @more = [[1] * 20, { a: 1, b: 2 }, "x" * 500, 2**80]
  end

  # Set where an Integer may be a descriptor: then only such as nobody has.
  attr_writer :far

  def number = @dice.pick(@far ? FAR : NUMBERS)

  # What a block answers.
  def block(args)
    args.each { |arg| reach(arg) if @targets.size < 20 }
    strike
    case @dice.below(12)
    when 0 then nil
    when 1 then true
    when 2 then :break
    when 3 then number
    when 4 then text
    when 5 then list
    when 6, 7 then hostile
    when 8 then @targets.last
    else args.first
    end
  end

  def text
    found = @targets.find { |target| String === target } if @dice.once_in(3)
    found || reach(+@dice.pick(TEXTS))
  end

  def list
    found = @targets.find { |target| Array === target } if @dice.once_in(3)
    found || reach(@dice.pick([[], [1], [1, 2], ["a", "b"], [[1, 2], [3, 4]], (0..40).to_a, [nil, :a, "b", 1.5]]).dup)
  end

  def table
    found = @targets.find { |target| Hash === target } if @dice.once_in(3)
    found || reach(@dice.pick([{}, { a: 1 }, { "a" => "b", 1 => 2 }, (0..20).to_h { |i| [i, i.to_s] }]).dup)
  end

  def target = @contents.empty? || @dice.once_in(6) ? @dice.pick(@targets) : @dice.pick(@contents)

  # Changes an object by what its class offers. Whatever it answers with is not of interest.
  def change(target)
    return if target.frozen?
    was = @armed
    @armed = false if @dice.once_in(2)
    case target
    when String then change_string(target)
    when Array then change_array(target)
    when Hash then change_hash(target)
    when Set then change_set(target)
    when Struct then target.size.times { |i| target[i] = number }
    when Module then change_module(target)
    when Thread::Queue then @dice.once_in(2) ? target.clear : target.close
    when Thread::Mutex then target.locked? ? target.unlock : target.try_lock
    when Thread then target.kill unless target == Thread.current || target == Thread.main
    when Enumerator then @dice.once_in(2) ? target.rewind : target.next
    when IO then change_io(target)
    when IO::Buffer then @dice.once_in(2) ? target.free : target.resize(@dice.pick([0, 1, 16, 100_000]))
    when Dir then @dice.once_in(2) ? target.close : target.read
    when Exception then target.set_backtrace([text, text])
    when Binding then target.local_variable_set(:"v#{@dice.below(50)}", list)
    else change_other(target)
    end
    target.freeze if @dice.once_in(12) && !(Module === target)
  rescue StandardError
    nil
  ensure
    @armed = was
  end

  def change_string(s)
    case @dice.below(11)
    when 0 then s.clear
    when 1 then s.replace("other" * @dice.below(200))
    when 2 then s << "grown" * 400 if s.bytesize < 20_000
    when 3 then s.slice!(0, s.bytesize / 2 + 1)
    when 4 then s.force_encoding(@dice.pick([Encoding::UTF_8, Encoding::BINARY, Encoding::UTF_16LE, Encoding::US_ASCII, Encoding::SHIFT_JIS]))
    when 5 then s.setbyte(0, 0xc3)
    when 6 then s.replace("")
    when 7 then s.insert(0, "\u3042" * 20) if s.bytesize < 20_000
    when 8 then s.squeeze!
    when 9 then s.upcase!
    else s.replace("z")
    end
  end

  def change_array(a)
    case @dice.below(12)
    when 0 then a.clear
    when 1 then a.replace([1, 2, 3])
    when 2 then a.concat((0..300).to_a) if a.size < 1000
    when 3 then a.pop
    when 4 then a.shift
    when 5 then a.map! { "new" * 10 }
    when 6 then a.insert(0, *(0..30)) if a.size < 1000
    when 7 then a.slice!(0, a.size / 2 + 1)
    when 8 then a.unshift(a.size)
    when 9 then a.clear && a.concat(["x" * 30] * 3)
    when 10 then a.fill(nil)
    else a.replace([])
    end
  end

  def change_hash(h)
    case @dice.below(9)
    when 0 then h.clear
    when 1 then h.replace({ 1 => 2 })
    when 2 then 60.times { |i| h["grown#{i}"] = i }
    when 3 then h.shift
    when 4 then h.delete(h.keys.last)
    when 5 then h.rehash
    when 6 then h.default_proc = proc { strike }
    when 7 then h.compare_by_identity
    else h.delete_if { true }
    end
  end

  def change_set(s)
    case @dice.below(4)
    when 0 then s.clear
    when 1 then 60.times { |i| s << i }
    when 2 then s.reset
    else s.replace([1, 2])
    end
  end

  def change_module(m)
    return if m.name && !m.name.start_with?("Specimen")
    case @dice.below(4)
    when 0 then m.define_method(:"new#{@dice.below(40)}") { 1 }
    when 1 then m.instance_methods(false).each { |name| m.send(:remove_method, name) }
    when 2 then m.const_set(:"C#{@dice.below(40)}", list)
    else m.include(Module.new)
    end
  end

  def change_io(io)
    return if io.fileno < 3
    case @dice.below(5)
    when 0 then io.close
    when 1 then io.rewind
    when 2 then io.truncate(0)
    when 3 then io.ungetc("unread" * 50)
    else io.set_encoding("UTF-16LE:UTF-8")
    end
  end

  # By duck type: the classes of the library.
  def change_other(o)
    methods = %i[string= truncate close reset clear terminate rewind finish end resize text= data= value= replace]
    name = methods.select { |m| o.class.method_defined?(m) }.then { |found| found[@dice.below(found.size)] unless found.empty? }
    case name
    when nil then @dice.below(30).times { |i| o.instance_variable_set(:"@grown#{i}", i) }
    when :string= then o.string = +"other"
    when :truncate, :resize then o.send(name, @dice.pick([0, 1, 100]))
    when :text=, :data=, :value=, :replace then o.send(name, text)
    else o.send(name)
    end
  end
end
