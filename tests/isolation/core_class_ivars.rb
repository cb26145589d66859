require_relative "support/pair"
pair(<<~'RUBY')
  seen = String.instance_variable_get(:@note)
  String.instance_variable_set(:@note, "child #{me}")
  Kernel.instance_variable_set(:"@only#{me}", 1)
  both.()
  out << [seen, String.instance_variable_get(:@note), Kernel.instance_variables]
RUBY
p String.instance_variables, Kernel.instance_variables
