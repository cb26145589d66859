require "set"
# Procs are equal when they are one block's: copies are, blocks that one literal gives again and again are not.
made = 3.times.map { proc { 1 } }
p made.uniq.size, made[0] == made[1], made[0].eql?(made[0].dup), made[0] == made[0].clone.dup, made[0].hash == made[0].dup.hash
p made[0].dup == made[1].dup

def keep(&block) = block
seen = {}
4.times { |i| seen[keep { nil }] = i }
p seen.size
list = 3.times.map { keep { :x } }
p (list - [list[1]]).size, list.index(list[2])

def twice(&) = [keep(&), keep(&)]
a, b = twice { 1 }
p a == b, a.eql?(b), { a => 1 }.key?(b)
def hidden_twice = [keep { 1 }, keep { 1 }]
p hidden_twice.uniq.size

l = -> { 1 }
p l == proc(&l), l == lambda(&l), Class.new(Proc).new(&l) == l

class Names < Set
  attr_reader :log
  def initialize(*) = (@log = []; super)
  def add(name) = (@log << name; super(name.to_s))
end
p Names[:a, :b].log, Names.new(%i[c]).to_a, Set[1, 2].size
