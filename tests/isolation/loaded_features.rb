require_relative "support/pair"
$feature_dir = File.join(__dir__, "support")
pair(<<~RUBY)
  dir = #{$feature_dir.dump}
  first = require File.join(dir, "feature")
  second = require File.join(dir, "feature")
  Feature.count += me
  $LOAD_PATH << "only-\#{me}"
  both.()
  out << [first, second, Feature.count, $LOADED_FEATURES.count { |f| f.end_with?("support/feature.rb") }, $LOAD_PATH.grep(/only/)]
RUBY
p $LOADED_FEATURES.any? { |f| f.end_with?("support/feature.rb") }, defined?(Feature), $LOAD_PATH.grep(/only/)
