# Keywords that are required come first in `parameters`; `iterator?` is the old name of `block_given?`.
def mixed(x, a:, c: 3, b:, d: 4, **rest, &block) = 0
p method(:mixed).parameters, ->(x: 1, y:) {}.parameters, proc { |x: 1, y:, **z| }.parameters
puts method(:mixed).inspect[/\(.*\)/]
def old = iterator?
p old, old {}
