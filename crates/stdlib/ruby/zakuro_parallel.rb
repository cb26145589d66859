# `require "zakuro/parallel"`: methods of Enumerable that run their block in VMs (docs/pools.md). Each call makes a pool of VMs, which have the program as it is at that moment, and ends it.
#
#     require "zakuro/parallel"
#     files.parallel_map { |path| parse(File.read(path)) }
#
# Keywords: `size:` and the others of RubyVM::Pool.new, and those of Pool#map.
module Enumerable
  # `map` in VMs: the block gets copies of the elements, its values are copied back, in order.
  #
  #     require "zakuro/parallel"
  #     [1, 2, 3].parallel_map(size: 2) { |n| n * n }   #=> [1, 4, 9]
  def parallel_map(**options, &block)
    raise ArgumentError, "no block given: the job" unless block
    __in_pool(options) { |pool, given| pool.map(self, **given, &block) }
  end

  # `each` in VMs, for what the block does; answers the receiver.
  #
  #     require "zakuro/parallel"
  #     [1, 2].parallel_each(size: 2) { |n| n }   #=> [1, 2]
  def parallel_each(**options, &block)
    raise ArgumentError, "no block given: the job" unless block
    __in_pool(options) { |pool, given| pool.each(self, **given, &block) }
    self
  end

  # `flat_map` in VMs.
  #
  #     require "zakuro/parallel"
  #     [1, 2].parallel_flat_map(size: 2) { |n| [n] * n }   #=> [1, 2, 2]
  def parallel_flat_map(**options, &block) = parallel_map(**options, &block).flat_map(&:itself)

  # `select` in VMs.
  #
  #     require "zakuro/parallel"
  #     (1..6).parallel_select(size: 2) { |n| n.even? }   #=> [2, 4, 6]
  def parallel_select(**options, &block)
    list = to_a
    kept = list.parallel_map(**__raising(options), &block)
    list.select.with_index { |_, i| kept[i] }
  end
  alias parallel_filter parallel_select

  # `reject` in VMs.
  #
  #     require "zakuro/parallel"
  #     (1..6).parallel_reject(size: 2) { |n| n.even? }   #=> [1, 3, 5]
  def parallel_reject(**options, &block)
    list = to_a
    dropped = list.parallel_map(**__raising(options), &block)
    list.reject.with_index { |_, i| dropped[i] }
  end

  # `filter_map` in VMs.
  #
  #     require "zakuro/parallel"
  #     (1..4).parallel_filter_map(size: 2) { |n| n * 10 if n.even? }   #=> [20, 40]
  def parallel_filter_map(**options, &block) = parallel_map(**options, &block).select(&:itself)

  # `sum` of the block's values in VMs.
  #
  #     require "zakuro/parallel"
  #     (1..3).parallel_sum(size: 2) { |n| n * n }   #=> 14
  def parallel_sum(initial = 0, **options, &block) = parallel_map(**__raising(options), &block).sum(initial)

  # An error is no answer to what these ask.
  private def __raising(options)
    raise ArgumentError, "errors: :return is for map, flat_map and filter_map: an error is neither true nor a number" if options[:errors] == :return
    options
  end

  private def __in_pool(options)
    given, made = options.partition { |name, _| %i[ordered errors progress ahead timeout].include?(name) }.map(&:to_h)
    RubyVM::Pool.open(**made) { |pool| yield pool, given }
  end
end
