# Prelude: rarer methods of IO, File, Dir, ENV, Process; pp.

class IO
  # Yields each codepoint; without a block an Enumerator.
  def each_codepoint
    return to_enum(:each_codepoint) unless block_given?
    each_char { |c| yield c.ord }
    self
  end
end

class IO
  # Lays out objects for `pp`: a tree of texts, breaks and groups; a group that doesn't fit its line breaks at all of its breaks.
  class Pretty
    BREAK = [:break, " "].freeze
    SOFT = [:break, ""].freeze
    private_constant :BREAK, :SOFT

    def initialize(width)
      @width = width
      @inside = []
    end

    def text(object)
      @out = +""
      @column = 0
      top = [0, [tree(object)]]
      emit(top, 0, width_of(top) <= @width, 0)
      @out
    end

    private

    def tree(object)
      return object.__send__(:inspect) unless Array === object || Hash === object || nested?(object)
      return closed(object) if @inside.any? { |o| o.equal?(object) }
      @inside.push(object)
      begin
        case object
        when Array then list("[", object.map { |o| tree(o) }, "]")
        when Hash then list("{", object.map { |k, v| pair(k, v) }, "}")
        else fields(object)
        end
      ensure
        @inside.pop
      end
    end

    # Objects whose variables are shown, because nothing else says how to show them.
    def nested?(object)
      case object
      when Struct then object.method(:inspect).owner == Struct
      when Data then object.method(:inspect).owner == Data
      when Module, String, Symbol, Numeric, Range, Regexp, Proc, Exception then false
      else object.method(:inspect).owner == Kernel && !object.instance_variables.empty?
      end
    rescue NoMethodError, NameError
      false
    end

    def closed(object)
      case object
      when Array then "[...]"
      when Hash then "{...}"
      when Struct then "#<struct #{object.class}:...>"
      when Data then "#<data #{object.class}:...>"
      else "#{address(object)} ...>"
      end
    end

    def address(object) = Kernel.instance_method(:to_s).bind_call(object).chop

    def list(open, items, close)
      inner = []
      items.each_with_index do |item, i|
        inner << "," << BREAK if i > 0
        inner << item
      end
      [1, [open, *inner, close]]
    end

    def pair(key, value)
      head =
        if Symbol === key
          shown = key.inspect
          shown.match?(/\A:["$@!]/) || shown.end_with?("=") ? "#{key.to_s.inspect}:" : "#{key}:"
        else
          [0, [tree(key), " =>"]]
        end
      [0, [head, [1, [BREAK, tree(value)]]]]
    end

    def fields(object)
      case object
      when Struct
        head = "#<struct #{object.class.name}"
        values = object.members.map { |m| [m.to_s, object[m]] }
      when Data
        head = "#<data #{object.class.name}"
        values = object.to_h.map { |m, v| [m.to_s, v] }
      else
        head = address(object)
        values = object.instance_variables.map { |v| [v.to_s, object.instance_variable_get(v)] }
      end
      inner = [head]
      values.each_with_index do |(name, value), i|
        inner << "," if i > 0
        inner << BREAK << name << "=" << [1, [SOFT, tree(value)]]
      end
      [1, [*inner, ">"]]
    end

    def width_of(node)
      return node.length if String === node
      return node[1].length if node[0] == :break
      node[2] ||= node[1].sum { |n| width_of(n) }
    end

    # Width of what follows a child up to the next break of its own group; `after` counts when there is none.
    def trailing(children, from, after)
      sum = 0
      children[from..].each do |node|
        return sum if Array === node && node[0] == :break
        sum += leading(node) { return sum + _1 }
      end
      sum + after
    end

    # Width of a node; yields the part before its first break when it has one.
    def leading(node)
      return node.length if String === node
      sum = 0
      node[1].each do |n|
        yield sum if Array === n && n[0] == :break
        sum += leading(n) { |part| yield sum + part }
      end
      sum
    end

    def emit(group, indent, flat, after)
      indent += group[0]
      children = group[1]
      children.each_with_index do |node, i|
        if String === node
          @out << node
          @column += node.length
        elsif node[0] == :break
          if flat
            @out << node[1]
            @column += node[1].length
          else
            @out << "\n" << " " * indent
            @column = indent
          end
        else
          rest = flat ? 0 : trailing(children, i + 1, after)
          emit(node, indent, flat || @column + width_of(node) + rest <= @width, rest)
        end
      end
    end
  end
  private_constant :Pretty

  class << self
    def __pp_text(object)
      text = object.inspect
      return text if String === text && text.length < 80 && !text.include?("\n")
      width = ENV["COLUMNS"].to_i
      Pretty.new((width > 0 ? width : 80) - 1).text(object)
    end
    private :__pp_text
  end
end

module Kernel
  # Prints objects so that long ones take several lines, and answers them.
  def pp(*objects)
    # The library's own, which asks objects for their `pretty_print`, takes this one's place; there may be no library.
    library = begin
      require "pp"
      defined?(::PP) && ::PP.respond_to?(:pp)
    rescue ::LoadError
      false
    end
    objects.each { |object| library ? ::PP.pp(object) : $stdout.puts(IO.__send__(:__pp_text, object)) }
    objects.size <= 1 ? objects.first : objects
  end
  module_function :pp
end

# Methods of every VM's ENV.
module EnvMethods
  # Yields each name and value; without a block an Enumerator.
  def each_pair
    return to_enum(:each_pair) { size } unless block_given?
    to_h.each { |pair| yield pair }
    self
  end
  alias each each_pair

  # Yields each name; without a block an Enumerator.
  def each_key
    return to_enum(:each_key) { size } unless block_given?
    keys.each { |name| yield name }
    self
  end

  # Yields each value; without a block an Enumerator.
  def each_value
    return to_enum(:each_value) { size } unless block_given?
    values.each { |value| yield value }
    self
  end

  # An Array of `[name, value]`.
  def to_a = to_h.to_a
  # Whether a variable has this value; nil for what is no text.
  def value?(value)
    value = __text(value)
    value && values.include?(value)
  end
  alias has_value? value?

  # The name of the first variable with this value, or nil.
  def key(value)
    text = __text(value) or raise TypeError, "no implicit conversion of #{value.nil? ? "nil" : value.class} into String"
    to_h.key(text)
  end

  # `[name, value]` of a variable, or nil.
  def assoc(name) = (value = self[name = __text(name)]) && [name, value]

  # `[name, value]` of the first variable with this value, or nil.
  def rassoc(value)
    value = __text(value)
    value && to_h.rassoc(value)
  end
  # The values of these variables, nil for those that are not there.
  def values_at(*names) = names.map { |name| self[name] }
  # The values of these variables; KeyError for one that is not there, unless the block answers.
  def fetch_values(*names, &block) = names.map { |name| fetch(name, &block) }
  # A Hash of the names by their values.
  def invert = to_h.invert
  # A Hash of these variables, without those that are not there.
  def slice(*names) = names.filter_map { |name| (value = self[name]) && [name, value] }.to_h
  # A Hash of all variables but these.
  def except(*names) = to_h.except(*names)

  # A Hash of the variables for which the block is true.
  def select
    return to_enum(:select) { size } unless block_given?
    to_h.select { |name, value| yield name, value }
  end
  alias filter select

  # A Hash of the variables for which the block is not true.
  def reject
    return to_enum(:reject) { size } unless block_given?
    to_h.reject { |name, value| yield name, value }
  end

  # Removes the variables for which the block is not true; nil if there are none.
  def select!
    return to_enum(:select!) { size } unless block_given?
    gone = to_h.reject { |name, value| yield name, value }
    gone.each_key { |name| delete(name) }
    gone.empty? ? nil : self
  end
  alias filter! select!

  # Removes the variables for which the block is not true, and answers ENV.
  def keep_if
    return to_enum(:keep_if) { size } unless block_given?
    select! { |name, value| yield name, value }
    self
  end

  # Removes the variables for which the block is true; nil if there are none.
  def reject!
    return to_enum(:reject!) { size } unless block_given?
    gone = to_h.select { |name, value| yield name, value }
    gone.each_key { |name| delete(name) }
    gone.empty? ? nil : self
  end

  # Removes the variables for which the block is true, and answers ENV.
  def delete_if
    return to_enum(:delete_if) { size } unless block_given?
    reject! { |name, value| yield name, value }
    self
  end

  # Sets variables of Hashes; the block answers the value of a variable that is there already.
  def update(*hashes)
    hashes.each do |hash|
      hash.to_hash.each_pair do |name, value|
        value = yield(name, self[name], value) if block_given? && key?(name)
        self[name] = value
      end
    end
    self
  end
  alias merge! update

  # Sets the variables of a Hash, and removes all others.
  def replace(hash)
    raise TypeError, "no implicit conversion of #{hash.nil? ? "nil" : hash.class} into Hash" unless hash.respond_to?(:to_hash)
    hash = hash.to_hash
    # All or nothing: what cannot be stored is found before anything changes.
    hash.each { |name, value| [name, value].each { |v| key?(v) } }
    old = keys
    update(hash)
    (old - hash.keys).each { |name| delete(name) }
    self
  end

  # Removes the first variable: `[name, value]`, or nil.
  def shift
    name = keys.first
    name && [name, delete(name)]
  end

  # A String by `to_str`, nil for other objects.
  def __text(object)
    return object if String === object
    object.respond_to?(:to_str) ? object.to_str : nil
  end
  private :__text

  # Nil: there is nothing to do.
  def rehash = nil
  # TypeError: ENV can't be frozen.
  def freeze = raise(TypeError, "cannot freeze ENV")
  # TypeError: `to_h` makes a copy.
  def dup = raise(TypeError, "Cannot dup ENV, use ENV.to_h to get a copy of ENV as a hash")

  # TypeError: `to_h` makes a copy.
  def clone(freeze: nil)
    unless nil.equal?(freeze) || true.equal?(freeze) || false.equal?(freeze)
      raise ArgumentError, "unexpected value for freeze: #{freeze.class}"
    end
    raise TypeError, "Cannot clone ENV, use ENV.to_h to get a copy of ENV as a hash"
  end
end

module Process
  remove_const(:Tms)
  Tms = Struct.new(:utime, :stime, :cutime, :cstime)

  # The thread of `Process.detach`.
  class Waiter < Thread
    # The number of the process that is waited for.
    def pid = self[:pid]
  end

  class << self
    # Seconds of CPU time: `utime` and `stime` of this process, `cutime` and `cstime` of its children that have ended.
    def times = Tms.new(*__times)

    # A thread that waits for a child, and whose value is its Process::Status.
    def detach(pid)
      unless Integer === pid
        raise TypeError, "no implicit conversion of #{pid.class} into Integer" unless pid.respond_to?(:to_int)
        number = pid.to_int
        raise TypeError, "can't convert #{pid.class} to Integer (#{pid.class}#to_int gives #{number.class})" unless Integer === number
        pid = number
      end
      thread = Waiter.new do
        wait2(pid)[1]
      rescue Errno::ECHILD
        nil
      end
      thread[:pid] = pid
      thread
    end

    # Ends the program by SystemExit: true is 0, false 1.
    def exit(status = true) = Kernel.exit(status)
    # Ends the program at once, without `at_exit` and `ensure`.
    def exit!(status = false) = Kernel.exit!(status)
    # Ends the program with status 1, and prints the message.
    def abort(*message) = Kernel.abort(*message)
  end
end
Object.__send__(:remove_const, :EnvMethods)
