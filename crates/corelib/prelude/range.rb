# Range: walking in steps.

class Range
  # A Set of the elements; RangeError without an end.
  def to_set(*args, &block)
    raise RangeError, "cannot convert endless range to a set" if self.end.nil? && !self.begin.nil?
    super
  end

  private

  # nil when they can't be compared
  def __order(a, b)
    c = a <=> b
    c && (c > 0 ? 1 : c < 0 ? -1 : 0)
  end

  # What the native `step` and `%` leave: neither Fixnums with a block, nor numbers without one.
  def __step(name, args)
    b = self.begin
    e = self.end
    excl = exclude_end?
    b_num = Numeric === b
    e_num = Numeric === e
    if args.empty?
      unless b_num || String === b || Symbol === b || (b.nil? && e_num)
        raise ArgumentError, "step is required for non-numeric ranges"
      end
      step = 1
    else
      step = args[0]
    end
    step_num = Numeric === step
    raise ArgumentError, "step can't be 0" if step_num && b_num && step == 0
    unless block_given?
      raise ArgumentError, "#step for non-numeric beginless ranges is meaningless" if b.nil?
      return to_enum(name, *args)
    end
    raise ArgumentError, "#step iteration for beginless ranges is meaningless" if b.nil?
    v = b
    if Integer === b && Integer === step && (e.nil? || Integer === e)
      if e.nil?
        while true
          yield v
          v += step
        end
      elsif step < 0
        e -= 1 unless excl
        while v > e
          yield v
          v += step
        end
      else
        e += 1 unless excl
        while v < e
          yield v
          v += step
        end
      end
    elsif b_num && step_num && (Float === b || Float === e || Float === step)
      Enumerator.__send__(:__float_steps, b, e, step, excl) { |x| yield x }
    elsif Integer === step && (String === b || Symbol === b)
      raise ArgumentError, "step can't be negative" if step < 0
      raise ArgumentError, "step can't be 0" if step == 0
      i = 0
      each do |x|
        yield x if i % step == 0
        i += 1
      end
    elsif e.nil?
      while true
        yield v
        v += step
      end
    elsif b_num && step_num && step < 0
      while (c = __order(e, v)) && (c < 0 || (c == 0 && !excl))
        yield v
        break if c == 0
        v += step
      end
    else
      direction = __order(b, e)
      if direction == 0
        yield v unless excl
      elsif direction && direction == __order(b, b + step)
        while (c = __order(v, e)) == direction || (c == 0 && !excl)
          yield v
          break if c == 0
          v += step
        end
      end
    end
    self
  end
end
