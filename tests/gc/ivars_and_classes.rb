scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 30 : 1_500
classes = Array.new(scale) do |i|
  Class.new do
    define_method(:v) { "v#{i}" }
    const_set(:LIST, ["c#{i}"])
    @iv = "iv#{i}"
    class << self; attr_reader :iv; end
    def initialize = 12.times { |k| instance_variable_set("@x#{k}", "x#{k}") }
    def sum = instance_variables.sum { |n| instance_variable_get(n).size }
  end
end
objects = classes.map(&:new)
GC.start
p objects.each_with_index.all? { |o, i| o.v == "v#{i}" && o.class.iv == "iv#{i}" && o.class::LIST == ["c#{i}"] && o.sum == 26 }
o = objects[0]
o.singleton_class.define_method(:single) { "only me" }
GC.start
p o.single
