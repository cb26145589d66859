require_relative "support/pair"
class Box
  @@v = :master
  @v = :master
  def self.get = [@@v, @v]
end
pair(<<~'RUBY')
  class Box
    @@v = 0
    @v = []
    def self.add(n)
      @@v += n
      @v << n
    end
    def self.get = [@@v, @v]
  end
  class Integer; @@zk = :set; end
  50.times { Box.add(me) }
  both.()
  out << [Box.get[0], Box.get[1].size, Box.get[1].uniq, Integer.class_variables]
RUBY
p Box.get, Integer.class_variables
