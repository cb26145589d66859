# Enumerator: Lazy, Chain, Product, ArithmeticSequence.
#
# State that Rust code reads, too: @__receiver, @__method, @__args, @__kw, @__size.

class Enumerator
  # An Enumerator whose elements the block gives to its parameter, a Yielder; `size` is a number, or what has `call` and answers one.
  #
  #     Enumerator.new { |y| y << 1 << 2 }.to_a   #=> [1, 2]
  def initialize(size = nil, &block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    unless size.nil? || Integer === size || Float === size && size.infinite? || size.respond_to?(:call)
      raise TypeError, "wrong argument type #{size.class} (expected Integer or callable)" unless Numeric === size
    end
    @__receiver = Generator.new(&block)
    @__method = :each
    @__args = []
    @__kw = nil
    @__size = size
    self
  end

  def initialize_copy(other)
    raise TypeError, "can't copy execution context" if other.__send__(:__begun)
    __forget
  end

  # Begins anew: `next` answers the first element.
  def rewind
    r = @__receiver
    r.rewind if r.respond_to?(:rewind)
    __forget
  end

  # Elements that the block makes, each of the one before it; StopIteration ends them.
  #
  #     Enumerator.produce(1) { |n| n * 2 }.take(4)   #=> [1, 2, 4, 8]
  def self.produce(*initial, size: Float::INFINITY, &block)
    raise ArgumentError, "no block given" unless block
    raise ArgumentError, "wrong number of arguments (given #{initial.size}, expected 0..1)" if initial.size > 1
    __plain(Producer.new(initial, block), :each, [], size)
  end

  # All combinations with one element of each; with a block they are yielded.
  #
  #     Enumerator.product([1, 2], [3, 4]).to_a   #=> [[1, 3], [1, 4], [2, 3], [2, 4]]
  def self.product(*enums, **kw, &block)
    raise ArgumentError, "unknown keywords: #{kw.keys.map(&:inspect).join(", ")}" unless kw.empty?
    e = Product.new(*enums)
    return e unless block
    e.each(&block)
    nil
  end

  class << self
    # A plain Enumerator over `receiver.method(*args)`.
    private def __plain(receiver, method, args, size)
      e = allocate
      e.__send__(:__set, receiver, method, args, size)
      e
    end

    # Number of rounds of a loop over Floats, as CRuby counts them: rounding errors don't lose the last one.
    private def __float_count(first, last, step, exclude_end)
      first = first.to_f
      last = last.to_f
      step = step.to_f
      n = (last - first) / step
      err = (first.abs + last.abs + (last - first).abs) / step.abs * Float::EPSILON
      return Float::INFINITY if step == 0
      return (step > 0 ? first <= last : first >= last) ? 1 : 0 if step.infinite?
      err = 0.5 if err > 0.5
      if exclude_end
        return 0 if n <= 0
        return Float::INFINITY if n.infinite?
        n = n < 1 ? 0 : (n - err).floor
        d = (n + 1) * step + first
        if first < last
          n += 1 if d < last
        elsif first > last
          n += 1 if d > last
        end
        (n + 1.0).to_i
      else
        return 0 if n < 0
        return Float::INFINITY if n.infinite?
        ((n + err).floor + 1.0).to_i
      end
    end

    private def __float_steps(first, last, step, exclude_end)
      first = first.to_f
      step = step.to_f
      if last.nil?
        i = 0
        while true
          yield i * step + first
          i += 1
        end
      end
      last = last.to_f
      n = __float_count(first, last, step, exclude_end)
      if step.infinite?
        yield first if n > 0
      elsif step == 0
        while true
          yield first
        end
      else
        i = 0
        while i < n
          d = i * step + first
          d = last if step >= 0 ? last < d : d < last
          yield d
          i += 1
        end
      end
    end
  end

  private def __set(receiver, method, args, size)
    @__receiver = receiver
    @__method = method
    @__args = args
    @__kw = nil
    @__size = size
  end

  # What an Enumerator with a block walks.
  class Generator
    include Enumerable
  end

  class Yielder
    # A Proc that gives its arguments to the Enumerator.
    def to_proc
      method(:yield).to_proc
    end
  end

  # What Enumerator.produce enumerates.
  # :nodoc:
  class Producer
    def initialize(initial, block)
      @__initial = initial
      @__block = block
    end

    def each
      block = @__block
      begin
        v = @__initial.empty? ? block.call : @__initial[0]
        while true
          yield v
          v = block.call(v)
        end
      rescue StopIteration
      end
      self
    end
  end

  class Chain
    # A chain with something lazy in it is lazy.
    def self.__of(enums)
      chain = new(*enums)
      enums.any? { |e| Lazy === e } ? chain.lazy : chain
    end

    undef_method :next, :next_values, :peek, :peek_values, :feed

    # The elements of each of the objects, one after the other.
    def initialize(*enums)
      @__enums = enums.freeze
      @__receiver = self
      @__method = :each
      @__args = []
      @__kw = nil
      @__size = nil
      self
    end

    # Yields the elements of each; without a block an Enumerator of them, which has `next`.
    def each(*args, &block)
      return to_enum(:each, *args) { args.empty? ? size : nil } unless block
      @__reached = 0
      @__enums.each do |e|
        @__reached += 1
        e.each(*args, &block)
      end
      self
    end

    # The sum of the sizes; nil if one is not known.
    def size
      total = 0
      @__enums.each do |e|
        s = e.size
        return s if s.nil? || (Float === s && s.infinite?)
        return nil unless Integer === s
        total += s
      end
      total
    end

    # Begins anew, and lets those that were reached begin anew.
    def rewind
      __forget
      while (@__reached ||= 0) > 0
        e = @__enums[@__reached -= 1]
        e.rewind if e.respond_to?(:rewind)
      end
      self
    end

    # The elements of this one, then those of the other.
    def +(other)
      Chain.__of([self, other])
    end

    # The class and the objects.
    def inspect
      return "#<Enumerator::Chain: uninitialized>" unless @__enums
      "#<Enumerator::Chain: [#{@__enums.map(&:inspect).join(", ")}]>"
    end
  end

  class Product < Enumerator
    undef_method :next, :next_values, :peek, :peek_values, :feed

    # All combinations with one element of each.
    def initialize(*enums, **kw)
      raise ArgumentError, "unknown keyword#{"s" if kw.size > 1}: #{kw.keys.map(&:inspect).join(", ")}" unless kw.empty?
      @__enums = enums.freeze
      @__receiver = self
      @__method = :each
      @__args = []
      @__kw = nil
      @__size = nil
      self
    end

    # Yields each combination as Array; without a block an Enumerator of them, which has `next`.
    def each(&block)
      return to_enum(:each) { size } unless block
      __walk(0, [], &block)
      self
    end

    private def initialize_copy(other)
      return self if equal?(other)
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      raise TypeError, "initialize_copy should take same class object" unless other.instance_of?(self.class)
      enums = other.instance_variable_get(:@__enums)
      raise ArgumentError, "uninitialized product" unless enums
      @__enums = enums
      self
    end

    # The product of the sizes; nil or infinity if one of them is, but for 0.
    def size
      sizes = []
      @__enums.each do |e|
        s = e.respond_to?(:size) ? e.size : nil
        return 0 if s == 0
        sizes << s
      end
      total = 1
      sizes.each do |s|
        return s if s.nil? || (Float === s && s.infinite?)
        return nil unless Integer === s
        total *= s
      end
      total
    end

    # Begins anew, and lets the objects begin anew.
    def rewind
      __forget
      @__enums.each { |e| e.rewind if e.respond_to?(:rewind) }
      self
    end

    # The class and the objects.
    def inspect
      return "#<Enumerator::Product: uninitialized>" unless @__enums
      __once { "#<Enumerator::Product: #{@__enums.inspect}>" } || "#<Enumerator::Product: ...>"
    end

    private def __walk(level, tuple, &block)
      if level == @__enums.size
        block.call(tuple.dup)
      else
        @__enums[level].each_entry do |v|
          tuple[level] = v
          __walk(level + 1, tuple, &block)
        end
      end
    end
  end

  class ArithmeticSequence
    class << self
      undef_method :new

      # TypeError: ranges and numbers make them.
      def allocate = raise(TypeError, "allocator undefined for #{self}")
    end

    # The first number.
    def begin = @__begin
    # The number behind which it ends, or nil.
    def end = @__end
    # The difference of two elements.
    def step = @__step
    # Whether `end` itself is left out.
    def exclude_end? = @__exclude

    # Yields each number; without a block the sequence itself.
    def each
      return self unless block_given?
      b = @__begin
      e = @__end
      s = @__step
      raise TypeError, "nil can't be coerced into Integer" if b.nil?
      if (Float === b || Float === e || Float === s) && !(Complex === b || Complex === s)
        Enumerator.__send__(:__float_steps, b, e, s, @__exclude) { |x| yield x }
      elsif e.nil?
        while true
          yield b
          b += s
        end
      elsif s == 0
        while true
          yield b
        end
      elsif s > 0
        if @__exclude
          while b < e
            yield b
            b += s
          end
        else
          while b <= e
            yield b
            b += s
          end
        end
      elsif @__exclude
        while b > e
          yield b
          b += s
        end
      else
        while b >= e
          yield b
          b += s
        end
      end
      self
    end

    # How many elements there are; infinity without an end.
    #
    #     1.step(10, 4).size   #=> 3
    def size
      b = @__begin
      e = @__end
      s = @__step
      if Float === b || Float === e || Float === s
        return Float::INFINITY if e.nil?
        return Enumerator.__send__(:__float_count, b, e, s, @__exclude)
      end
      return Float::INFINITY if e.nil? || s == 0
      n = (e - b).div(s)
      return 0 if n < 0
      n -= 1 if @__exclude && b + s * n == e
      n + 1
    end

    # The first element, or nil; with `n` an Array of the first.
    def first(*n)
      raise ArgumentError, "wrong number of arguments (given #{n.size}, expected 0..1)" if n.size > 1
      return super unless n.empty?
      b = @__begin
      e = @__end
      s = @__step
      return nil if b.nil?
      unless e.nil?
        return nil if s < 0 ? b < e : e < b
        return nil if @__exclude && b == e
      end
      Float === e || Float === s ? b.to_f : b
    end

    # The last element, or nil; with `n` an Array of the last. RangeError without an end.
    def last(*n)
      raise ArgumentError, "wrong number of arguments (given #{n.size}, expected 0..1)" if n.size > 1
      raise RangeError, "cannot get the last element of endless arithmetic sequence" if @__end.nil?
      unless n.empty?
        raise ArgumentError, "negative array size" if n[0] < 0
        return to_a.last(n[0])
      end
      count = size
      return nil if count == 0
      if Float === @__begin || Float === @__end || Float === @__step
        d = (count - 1) * @__step.to_f + @__begin
        return (@__step >= 0 ? @__end < d : d < @__end) ? @__end.to_f : d
      end
      @__begin + @__step * (count - 1)
    end

    # An Array of the elements; RangeError without an end.
    def to_a
      raise RangeError, "cannot convert endless range to an array" if @__end.nil?
      a = []
      each { |x| a << x }
      a
    end
    alias entries to_a

    # Whether both have the same begin, end and step.
    def ==(other)
      ArithmeticSequence === other && @__begin == other.begin && @__end == other.end && @__step == other.step &&
        @__exclude == other.exclude_end?
    end
    alias === ==
    alias eql? ==

    # The same for equal sequences.
    def hash
      [@__exclude, @__begin, @__end, @__step].hash
    end

    # How it was made: "(1.step(10, 4))".
    def inspect
      args = @__args.map(&:inspect)
      @__kw&.each { |k, v| args << "#{k}: #{v.inspect}" }
      r = Range === @__receiver ? "(#{@__receiver.inspect})" : @__receiver.inspect
      "(#{r}.#{@__method}#{args.empty? ? "" : "(#{args.join(", ")})"})"
    end

    # Begins anew: `next` answers the first element.
    def rewind
      __forget
    end
  end

  # @__run is a proc that gets the consumer's block; nil for a Lazy that calls a method of its receiver, as a plain Enumerator does.
  class Lazy
    # A Lazy whose elements the block gives to its first parameter, a Yielder, for each element of `source`.
    def initialize(source, size = nil, &block)
      raise ArgumentError, "tried to call lazy new without a block" unless block
      __set_lazy(source, nil, [], size, lambda { |emit, args|
        y = Yielder.new(&emit)
        source.each(*args) { |*v| block.call(y, *v) }
      })
      self
    end

    # Yields each element; without a block a Lazy.
    def each(*args, &block)
      run = @__run
      unless block
        return super if args.empty? || !run
        lazy = Lazy.__send__(:__make, @__receiver, @__method, @__args + args, nil) { |emit, given| run.call(emit, args + given) }
        lazy.instance_variable_set(:@__one, false) if __link?
        return lazy
      end
      if run
        return run.call(block, args) if !__link? || @__one == true || args.empty? && __single?
        return run.call(proc { |*v| block.call(v.size > 1 ? v : v[0]) }, args)
      end
      r = @__receiver
      return r.each(*@__args, &block) if Lazy === r && args.empty? && @__method == :each
      # Those that Lazy answers with a Lazy.
      return r.__send__(@__method, *@__args, &block) if Lazy === r && args.empty? && GROUPING.include?(@__method)
      # What Lazy answers lazily runs at once here.
      return super unless Lazy === r && args.empty? && Enumerator.method_defined?(@__method)
      Enumerator.instance_method(@__method).bind_call(r, *@__args, &block)
    end

    # How many elements there are, or nil if that is not known.
    def size
      return super unless @__run
      s = @__size
      s.respond_to?(:call) ? s.call : s
    end

    # The Lazy itself.
    def lazy = self

    # An Array of all elements.
    def force(*args)
      all = []
      each(*args) { |*v| all << (v.size > 1 ? v : v[0]) }
      all
    end

    # A Lazy over another method.
    def to_enum(method = :each, *args, **kw, &size) = super
    alias enum_for to_enum

    # An Enumerator that is not lazy, over the same elements.
    def eager
      Enumerator.__send__(:__plain, self, :each, [], -> { size })
    end

    # What the block makes of each element.
    #
    #     (1..).lazy.map { |n| n * 2 }.first(2)   #=> [2, 4]
    def map(&block)
      __need(block, :map)
      __op(:map, [], -> { size }) do |emit, given, single|
        if single
          __values(given) { |e| emit.call(block.call(e)) }
        else
          __values(given) { |*v| emit.call(block.call(*v)) }
        end
      end
    end
    # As `map`.
    def collect(&block) = __called(:collect, map(&block))

    # The elements for which the block is true.
    def select(&block)
      __need(block, :select)
      __op(:select, [], keeps: true) do |emit, given, single|
        if single
          __values(given) { |e| emit.call(e) if block.call(e) }
        else
          __values(given) { |*v| emit.call(*v) if block.call(v.size > 1 ? v : v[0]) }
        end
      end
    end
    # As `select`.
    def filter(&block) = __called(:filter, select(&block))
    # As `select`.
    def find_all(&block) = __called(:find_all, select(&block))

    # The elements for which the block is not true.
    def reject(&block)
      __need(block, :reject)
      __op(:reject, [], keeps: true) do |emit, given, single|
        if single
          __values(given) { |e| emit.call(e) unless block.call(e) }
        else
          __values(given) { |*v| emit.call(*v) unless block.call(v.size > 1 ? v : v[0]) }
        end
      end
    end

    # What the block makes of the elements, but for nil and false.
    def filter_map(&block)
      __need(block, :filter_map)
      __op(:filter_map, []) do |emit, given, single|
        if single
          __values(given) do |e|
            r = block.call(e)
            emit.call(r) if r
          end
        else
          __values(given) do |*v|
            r = block.call(*v)
            emit.call(r) if r
          end
        end
      end
    end

    # What the block makes of each element; of Arrays and Lazies their elements.
    def flat_map(&block)
      __need(block, :flat_map)
      __op(:flat_map, []) do |emit, given, single|
        if single
          __values(given) { |e| __flatten(block.call(e), emit) }
        else
          __values(given) { |*v| __flatten(block.call(*v), emit) }
        end
      end
    end
    # As `flat_map`.
    def collect_concat(&block) = __called(:collect_concat, flat_map(&block))

    # The elements that match the pattern by `===`, or what the block makes of them.
    def grep(pattern, &block)
      __op(:grep, [pattern], keeps: !block) do |emit, given|
        __values(given) do |*v|
          e = v.size > 1 ? v : v[0]
          next unless __match(pattern, e)
          block ? emit.call(block.call(e)) : emit.call(*v)
        end
      end
    end

    # The elements that do not match the pattern by `===`, or what the block makes of them.
    def grep_v(pattern, &block)
      __op(:grep_v, [pattern], keeps: !block) do |emit, given|
        __values(given) do |*v|
          e = v.size > 1 ? v : v[0]
          next if __match(pattern, e)
          block ? emit.call(block.call(e)) : emit.call(*v)
        end
      end
    end

    # The elements but for nil.
    def compact
      __op(:compact, [], keeps: true) do |emit, given|
        __values(given) { |*v| emit.call(*v) unless v.size == 1 && v[0].nil? }
      end
    end

    # The elements without those that come again, or whose block's result does.
    def uniq(&block)
      __op(:uniq, [], keeps: true) do |emit, given, single|
        seen = {}
        if single
          __values(given) { |e| emit.call(e) if __first?(seen, block ? block.call(e) : e) }
        else
          __values(given) do |*v|
            e = v.size > 1 ? v : v[0]
            emit.call(*v) if __first?(seen, block ? block.call(e) : e)
          end
        end
      end
    end

    # The first `n` elements.
    def take(n)
      n = __int(n)
      raise ArgumentError, "attempt to take negative size" if n < 0
      __op(:take, [n], -> { (s = size) ? (s < n ? s : n) : nil }, keeps: true) do |emit, given, single|
        i = 0
        if n <= 0
          nil
        elsif single
          __values(given) do |e|
            i += 1
            emit.call(e)
            break if i >= n
          end
        else
          __values(given) do |*v|
            i += 1
            emit.call(*v)
            break if i >= n
          end
        end
      end
    end

    # The elements before the first for which the block is not true.
    def take_while(&block)
      __need(block, :take_while)
      __op(:take_while, [], keeps: true) do |emit, given|
        __values(given) do |*v|
          break unless block.call(*v)
          emit.call(*v)
        end
      end
    end

    # The elements behind the first `n`.
    def drop(n)
      n = __int(n)
      raise ArgumentError, "attempt to drop negative size" if n < 0
      __op(:drop, [n], -> { (s = size) ? (s > n ? s - n : 0) : nil }, keeps: true) do |emit, given|
        i = 0
        __values(given) do |*v|
          if i < n
            i += 1
          else
            emit.call(*v)
          end
        end
      end
    end

    # The elements from the first on for which the block is not true.
    def drop_while(&block)
      __need(block, :drop_while)
      __op(:drop_while, [], keeps: true) do |emit, given|
        dropping = true
        __values(given) do |*v|
          dropping = false if dropping && !block.call(*v)
          emit.call(*v) unless dropping
        end
      end
    end

    # Each element with its number, from `offset` on; with a block it gets both, and the elements stay.
    def with_index(offset = 0, &block)
      offset = offset.nil? ? 0 : __int(offset)
      __op(:with_index, offset == 0 ? [] : [offset], -> { size }, keeps: block ? false : nil) do |emit, given|
        i = offset - 1
        __values(given) do |*v|
          e = v.size > 1 ? v : v[0]
          i += 1
          if block
            block.call(e, i)
            emit.call(e)
          else
            emit.call(e, i)
          end
        end
      end
    end

    # Each element with its number, from 0 on.
    def each_with_index(&block) = __called(:each_with_index, with_index(0, &block))

    # Arrays of each element and those of the others at its place; with a block they are yielded at once.
    def zip(*others, &block)
      return super if block
      arrays = others.map do |o|
        a = Array.try_convert(o)
        raise TypeError, "wrong argument type #{o.class} (must respond to :each)" unless a || o.respond_to?(:each)
        a || o
      end
      lists = arrays.all?(Array)
      __op(:zip, others, -> { size }, keeps: true) do |emit, given, single|
        if single && lists
          i = -1
          next __values(given) do |e|
            i += 1
            row = [e]
            arrays.each { |a| row << a[i] }
            emit.call(row)
          end
        end
        readers = arrays.map { |o| Array === o ? o : Enumerator.__send__(:__plain, o, :each, [], nil) }
        ended = []
        i = -1
        __values(given) do |*v|
          e = v.size > 1 ? v : v[0]
          i += 1
          row = [e]
          readers.each_with_index do |o, k|
            row << if Array === o
              o[i]
            elsif ended[k]
              nil
            else
              begin
                o.next
              rescue StopIteration
                ended[k] = true
                nil
              end
            end
          end
          v.size > 1 ? emit.call(*row) : emit.call(row)
        end
      end
    end

    GROUPING = [:chunk].freeze
    private_constant :GROUPING

    # Runs of elements with the same result of the block, lazily.
    def chunk(*, &block) = block ? super.lazy : to_enum(:chunk)
    # Runs of elements, as long as the block is true for two neighbours, lazily.
    def chunk_while(*) = super.lazy
    # Runs of elements, each up to where the block is true for two neighbours, lazily.
    def slice_when(*) = super.lazy
    # Runs of elements, each of which begins where pattern or block says so, lazily.
    def slice_before(*) = super.lazy
    # Runs of elements, each of which ends where pattern or block says so, lazily.
    def slice_after(*) = super.lazy

    # Begins anew: `next` answers the first element.
    def rewind
      __forget
    end

    private

    def __set_lazy(receiver, method, args, size, run)
      __set(receiver, method, args, size)
      @__run = run
    end

    # Whether it is made by one of the methods here of another Lazy: then it may give several values as one element to the next.
    def __link? = @__one == :source || @__one == true || @__one == false

    # Each element, with several values where it is given so; without any it is nil.
    def __values(given, &block)
      return @__run.call(block, given) if __link?
      return each(&block) if given.empty? && __single?
      each(*given) { |*v| v.empty? ? block.call(nil) : block.call(*v) }
    end

    # Gives on the elements of what a block of `flat_map` answered, or that itself.
    def __flatten(r, emit)
      if Array === r
        r.each { |x| emit.call(x) }
      elsif r.respond_to?(:force) && r.respond_to?(:each)
        r.each { |x| emit.call(x) }
      elsif (a = Array.try_convert(r))
        a.each { |x| emit.call(x) }
      else
        emit.call(r)
      end
    end

    # Whether it is the first such key that is seen.
    def __first?(seen, key) = !seen.key?(key) && (seen[key] = true)

    # `inspect` shows the name by which a method was called.
    def __called(name, lazy)
      lazy.instance_variable_set(:@__method, name)
      lazy
    end

    # By `to_int`; `at` has the words for what has none.
    def __int(n) = n.respond_to?(:to_int) ? n.to_int : [].at(n)

    def __need(block, name)
      raise ArgumentError, "tried to call lazy #{name} without a block" unless block
    end

    # `body` gets where elements go, what `each` was given, and whether elements come one by one, never several at once: then no list of them is made.
    # `keeps`: true for what hands on elements of several values so, nil for what may make them of others. Only what follows in the chain
    # sees several; at its end they are an Array.
    def __op(name, args, size = nil, keeps: false, &body)
      __linked(name, args, size, keeps) { |emit, given| body.call(emit, given, given.empty? && __single?) }
    end
  end
end
