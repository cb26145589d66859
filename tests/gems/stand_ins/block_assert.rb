require "minitest"
module BlockAssert
  def assert(*args, &block) = block && args.empty? ? super(block.call) : super(*args)
  def refute(*args, &block) = block && args.empty? ? super(block.call) : super(*args)
end
Minitest::Assertions.prepend(BlockAssert)
Minitest::Test.prepend(BlockAssert) rescue nil
