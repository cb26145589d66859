class Ghost
  def method_missing(name, *args, **kw, &blk)
    if name.end_with?("=")
      (@data ||= {})[name.to_s.chomp("=").to_sym] = args.first
    elsif (@data ||= {}).key?(name)
      @data[name]
    elsif name == :yielding
      blk.call(*args)
    else
      super
    end
  end
  def respond_to_missing?(name, priv = false) = name.end_with?("=") || (@data || {}).key?(name) || super
end
g = Ghost.new
g.color = "red"
p g.color
p g.respond_to?(:color)
p g.respond_to?(:size)
p g.yielding(2) { |x| x + 1 }
begin
  g.unknown
rescue NoMethodError => e
  p e.name, e.args
end
p g.method(:color).call
class Proxy < BasicObject
  def initialize(t) = @t = t
  def method_missing(n, *a, &b)
    ::Kernel.puts "-> #{n}"
    @t.__send__(n, *a, &b)
  end
  def respond_to_missing?(*) = true
end
pr = Proxy.new([3, 1, 2])
p pr.sort, pr.map { |x| x * 2 }
class ClassGhost
  def self.method_missing(n, *a) = n.to_s.start_with?("find_by_") ? [n.to_s.sub("find_by_", ""), *a] : super
  def self.respond_to_missing?(*) = true
end
p ClassGhost.find_by_name("x")
[-> { xyz_undefined }, -> { xyz_undefined() }, -> { self.xyz_undefined }].each do |f|
  f.call
rescue NameError => e
  p e.name, e.class
end
