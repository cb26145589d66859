# Composition and currying of Procs and Methods.

class Proc
  # A Proc that calls this one, then `g` with what it answers.
  #
  #     (->(x) { x + 1 } >> ->(x) { x * 2 }).call(3)   #=> 8
  def >>(g)
    raise TypeError, "callable object is expected" unless g.respond_to?(:call)
    f = self
    if f.lambda?
      lambda { |*args, **kw, &block| g.call(f.call(*args, **kw, &block)) }
    else
      proc { |*args, **kw, &block| g.call(f.call(*args, **kw, &block)) }
    end
  end

  # A Proc that calls `g`, then this one with what it answers.
  #
  #     (->(x) { x + 1 } << ->(x) { x * 2 }).call(3)   #=> 7
  def <<(g)
    raise TypeError, "callable object is expected" unless g.respond_to?(:call)
    f = self
    if !(Proc === g) || g.lambda?
      lambda { |*args, **kw, &block| f.call(g.call(*args, **kw, &block)) }
    else
      proc { |*args, **kw, &block| f.call(g.call(*args, **kw, &block)) }
    end
  end

  # A Proc that takes arguments one by one, or some at a time, until there are `n`; ArgumentError if a lambda does not take as many.
  #
  #     ->(a, b) { a + b }.curry[1][2]   #=> 3
  def curry(n = (no_arity = true; nil))
    given = arity
    least = given < 0 ? -given - 1 : given
    if no_arity || n.nil?
      n = least
    else
      n = Integer(n)
      if lambda?
        kinds = parameters.map(&:first)
        most = kinds.include?(:rest) ? nil : kinds.count { |k| k == :req || k == :opt }
        most += 1 if most && kinds.intersect?([:key, :keyreq, :keyrest])
        if n < least || (most && n > most)
          expected = most ? (least == most ? least : "#{least}..#{most}") : "#{least}+"
          raise ArgumentError, "wrong number of arguments (given #{n}, expected #{expected})"
        end
      end
    end
    __curry(n, [])
  end

  private def __curry(n, got)
    f = self
    if lambda?
      lambda do |*args, &block|
        all = got + args
        next f.call(*all, &block) if all.size >= n
        warn "given block not used", uplevel: 0 if block
        f.__send__(:__curry, n, all)
      end
    else
      proc do |*args, &block|
        all = got + args
        next f.call(*all, &block) if all.size >= n
        warn "given block not used", uplevel: 0 if block
        f.__send__(:__curry, n, all)
      end
    end
  end

end

class Method
  # A Proc that calls the method, then `g` with what it answers.
  def >>(g)
    to_proc >> g
  end

  # A Proc that calls `g`, then the method with what it answers.
  def <<(g)
    to_proc << g
  end

  # A Proc that takes arguments one by one, or some at a time, until there are `n`.
  def curry(n = (no_arity = true; nil))
    no_arity ? to_proc.curry : to_proc.curry(n)
  end
end

class Binding
  # A session of irb, here. (irb brings its own method of this name.)
  def irb(show_code: true)
    require "irb"
    irb(show_code: show_code)
  end
end
