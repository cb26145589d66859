# load with a module: what the file defines is the module's.
require "tmpdir"
Dir.mktmpdir do |d|
  file = File.join(d, "wrapped.rb")
  File.write(file, <<~'RUBY')
    module Extra; def extra = :extra; end
    LIMIT = 7
    class Thing; def to_s = "thing #{LIMIT}"; end
    def helper = "helper #{Thing.new}"
    $out << helper
    $out << extra rescue $out << "no extra"
    include Extra
    $out << extra
    $out << self.to_s << self.equal?(TOPLEVEL_BINDING.receiver) << self.class
    $out << method(:helper).owner.class << Module.nesting.size
    $out << ::String
    define_method(:made) { :made }
    public
    def open_one = helper
    private :made
    $out << [1].map { helper }.first
    def self.single = helper
    $out << single
  RUBY
  $out = []
  p load(file, true)
  puts $out.map(&:inspect)
  p defined?(LIMIT), defined?(Thing), defined?(helper), respond_to?(:extra)
  p TOPLEVEL_BINDING.receiver.respond_to?(:single)
  m = Module.new
  $out = []
  p load(file, m)
  p m.constants.sort, m.instance_methods.sort, m.private_instance_methods(false).sort, m.ancestors.size
  o = Object.new.extend(m)
  p o.open_one, o.extra
  begin
    o.helper
  rescue NoMethodError => e
    puts e.message.sub(/0x\h+/, "")
  end
  begin
    load(file + "x", true)
  rescue LoadError => e
    p e.class
  end
end
# main is the one object of its singleton class.
p singleton_class.ancestors.include?(Object), singleton_class.inspect.sub(/0x\h+/, ""), singleton_methods.sort
c = clone
p c.to_s, c.equal?(self)
# Needs the standard library.
