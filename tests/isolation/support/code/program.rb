# Started in a hundred VMs by code_shared.rb.
require_relative "part_1"
require_relative "part_2"
require_relative "part_3"
RubyVM::ARGV[0] << [Part1, Part2, Part3].sum { |part| part.call(RubyVM::ARGV[1]) }
