require_relative "support/pair"
$counter = 100
pair(<<~'RUBY')
  before = $counter
  $counter = 0
  500.times { $counter += me }
  $, = nil
  alias $same $counter
  both.()
  out << [before, $counter, $same, global_variables.include?(:$counter)]
RUBY
p $counter, global_variables.include?(:$same)
