# Set: what is easier said in Ruby. The rest is in set.rs.
class Set
  # Sets of elements with the same result of the block; a block with two parameters says which elements belong together.
  #
  #     Set[1, 2, 4].divide { |a, b| (a - b).abs == 1 }   #=> Set[Set[1, 2], Set[4]]
  def divide(&block)
    return to_enum(:divide) { size } unless block
    return Set.new(classify(&block).values) unless block.arity == 2

    rest = to_a
    groups = []
    # Strongly connected components by reachability in both directions.
    reach = {}.compare_by_identity
    rest.each do |from|
      seen = {}.compare_by_identity
      seen[from] = true
      queue = [from]
      until queue.empty?
        at = queue.shift
        rest.each do |to|
          next if seen.key?(to) || !block.call(at, to)
          seen[to] = true
          queue << to
        end
      end
      reach[from] = seen
    end
    done = {}.compare_by_identity
    rest.each do |from|
      next if done.key?(from)
      group = rest.select { |to| reach[from].key?(to) && reach[to].key?(from) }
      group.each { |to| done[to] = true }
      groups << self.class.new(group)
    end
    self.class.new(groups)
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
