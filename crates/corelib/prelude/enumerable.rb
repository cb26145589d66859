# Enumerable: what makes enumerators of runs of elements, and the way to Lazy and Set. The rest is in src/enumerable.

module Enumerable
  # Runs of elements with the same result of the block, with it: `[result, elements]`. nil and `:_separator` drop an element, `:_alone` lets it stand alone.
  #
  #     [1, 3, 2, 5].chunk(&:odd?).to_a   #=> [[true, [1, 3]], [false, [2]], [true, [5]]]
  def chunk(&block)
    return to_enum(:chunk) { size if respond_to?(:size) } unless block
    source = self
    Enumerator.new do |y|
      key = nil
      run = nil
      source.each do |*v|
        e = v.size > 1 ? v : v[0]
        k = block.call(e)
        if k.nil? || :_separator.equal?(k)
          y << [key, run] if run
          run = nil
        elsif :_alone.equal?(k)
          y << [key, run] if run
          y << [k, [e]]
          run = nil
        elsif Symbol === k && k.start_with?("_")
          raise RuntimeError, "symbols beginning with an underscore are reserved"
        elsif run && key == k
          run << e
        else
          y << [key, run] if run
          key = k
          run = [e]
        end
      end
      y << [key, run] if run
      nil
    end
  end

  # Runs of elements, each up to where the block is true for two neighbours.
  #
  #     [1, 2, 4, 5].slice_when { |a, b| b > a + 1 }.to_a   #=> [[1, 2], [4, 5]]
  def slice_when(&block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    source = self
    Enumerator.new do |y|
      run = nil
      last = nil
      source.each do |*v|
        e = v.size > 1 ? v : v[0]
        if run.nil?
          run = [e]
        elsif block.call(last, e)
          y << run
          run = [e]
        else
          run << e
        end
        last = e
      end
      y << run if run
      nil
    end
  end

  # Runs of elements, as long as the block is true for two neighbours.
  def chunk_while(&block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    slice_when { |a, b| !block.call(a, b) }
  end

  # Runs of elements, each of which begins where the pattern matches by `===`, or the block is true.
  def slice_before(*pattern, &block)
    if block
      raise ArgumentError, "both pattern and block are given" unless pattern.empty?
    elsif pattern.size != 1
      raise ArgumentError, "wrong number of arguments (given #{pattern.size}, expected 1)"
    end
    pattern = pattern[0]
    source = self
    Enumerator.new do |y|
      run = nil
      source.each do |*v|
        e = v.size > 1 ? v : v[0]
        starts = block ? block.call(e) : pattern === e
        if run && starts
          y << run
          run = [e]
        elsif run
          run << e
        else
          run = [e]
        end
      end
      y << run if run
      nil
    end
  end

  # Runs of elements, each of which ends where the pattern matches by `===`, or the block is true.
  def slice_after(*pattern, &block)
    if block
      raise ArgumentError, "both pattern and block are given" unless pattern.empty?
    elsif pattern.size != 1
      raise ArgumentError, "wrong number of arguments (given #{pattern.size}, expected 1)"
    end
    pattern = pattern[0]
    source = self
    Enumerator.new do |y|
      run = nil
      source.each do |*v|
        e = v.size > 1 ? v : v[0]
        (run ||= []) << e
        if block ? block.call(e) : pattern === e
          y << run
          run = nil
        end
      end
      y << run if run
      nil
    end
  end

  # An Enumerator::Lazy over the elements: its methods work on an element only when it is asked for.
  def lazy
    source = self
    lazy = Enumerator::Lazy.__send__(:__make, self, nil, [], -> { source.size if source.respond_to?(:size) }) { |emit, given| source.each(*given, &emit) }
    lazy.instance_variable_set(:@__one, :receiver)
    lazy
  end

  # The elements of this one, then those of the others.
  def chain(*others)
    Enumerator::Chain.__of([self, *others])
  end
end
