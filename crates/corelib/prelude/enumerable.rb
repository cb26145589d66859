# Enumerable: what makes enumerators of runs of elements, and the way to Lazy and Set. The rest is in src/enumerable.

module Enumerable
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

  def chunk_while(&block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    slice_when { |a, b| !block.call(a, b) }
  end

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

  def lazy
    source = self
    Enumerator::Lazy.__send__(:__make, self, nil, [], -> { source.size if source.respond_to?(:size) }) { |emit, given| source.each(*given, &emit) }
  end

  def chain(*others)
    Enumerator::Chain.__of([self, *others])
  end
end
