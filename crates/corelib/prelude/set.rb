# Set: what is easier said in Ruby. The rest is in set.rs.
class Set
  # What a class inherits from that wants none of {SubclassCompatible}. (Made before `inherited`.)
  class CoreSet < Set
  end

  # Classes that inherit from Set behave as they did while Set was written in Ruby: a library's module has the methods that call each other.
  def self.inherited(subclass)
    return unless equal?(Set)

    begin
      require "set/subclass_compatible"
    rescue LoadError
      return # without the standard library: Set's own methods
    end
    subclass.include(SubclassCompatible)
    subclass.extend(SubclassCompatible::ClassMethods)
  end
  private_class_method :inherited

  # Sets of elements with the same result of the block; a block with two parameters says which elements belong together, when it is true both ways round.
  #
  #     Set[1, 2, 4].divide { |a, b| (a - b).abs == 1 }   #=> Set[Set[1, 2], Set[4]]
  def divide(&block)
    return to_enum(:divide) { size } unless block
    return Set.new(classify(&block).values) unless block.arity == 2

    list = to_a
    # For each element one of its group, towards the group's first (Galler, Fischer: "An improved equivalence algorithm", 1964).
    up = Array.new(list.size) { |i| i }
    top = lambda do |i|
      i = up[i] = up[up[i]] until up[i] == i
      i
    end
    list.each_with_index do |a, i|
      (i + 1...list.size).each do |j|
        b = list[j]
        next unless block.call(a, b) && block.call(b, a)
        x, y = top.(i), top.(j)
        x < y ? up[y] = x : up[x] = y
      end
    end
    groups = {}
    list.each_with_index { |e, i| (groups[top.(i)] ||= self.class.new) << e }
    Set.new(groups.values)
  end

  # Adds the elements of a Set and of the Sets in it.
  def flatten_merge(set, _seen = {})
    merge(set.flatten)
  end

  # What `pp` prints.
  def pretty_print(pp)
    pp.group(1, "#{self.class.name}[", "]") do
      pp.seplist(self) { |o| pp.pp(o) }
    end
  end

  # What `pp` prints of a Set that contains itself.
  def pretty_print_cycle(pp)
    pp.text("#{self.class.name}[#{empty? ? "" : "..."}]")
  end
end

module Enumerable
  # A Set of the elements.
  #
  #     [1, 2, 1].to_set   #=> Set[1, 2]
  def to_set(klass = (plain = true; Set), *args, &block)
    warn("passing arguments to Enumerable#to_set is deprecated", uplevel: 0, category: :deprecated) unless plain
    klass.new(self, *args, &block)
  end
end
