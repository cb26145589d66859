# Without --gc=stress. What classes own counts for the memory limit: no way to make ever more of it takes the process far beyond.
LIMIT = 16 << 20
WAYS = {
  "a chain of classes" => 'c = Object; loop { c = Class.new(c) }',
  "singleton classes of singleton classes" => 'c = Object; loop { c = c.singleton_class }',
  "modules that include one another" => 'm = Module.new; loop { n = Module.new; n.include(m); m = n }',
  "modules in one class" => 'c = Class.new; 1000.times { c.include(Module.new); c.prepend(Module.new) }; a = []; loop { a << Class.new(c) }',
  "methods" => 'c = Class.new; i = 0; loop { c.define_method("m#{i += 1}") { } }',
  "constants" => 'c = Class.new; i = 0; loop { c.const_set("C#{i += 1}", 1) }',
  "shapes" => 'i = 0; loop { Object.new.instance_variable_set("@a#{i += 1}", 1) }',
  "singleton methods" => 'a = []; loop { o = Object.new; def o.x = 1; a << o }',
  "refinements" => 'a = []; loop { a << Module.new { refine(String) { def x = 1 } } }',
  "classes with superclass and modules" => 'a = []; m = Module.new; loop { a << Class.new(StandardError) { include m; attr_accessor :x } }',
}
def peak = File.read("/proc/self/status")[/VmHWM:\s*(\d+)/, 1].to_i << 10
before = peak
WAYS.each do |name, source|
  vm = RubyVM.fork(source, memory_limit: LIMIT, wall_limit: 60) do |text|
    eval(text)
  rescue NoMemoryError
    :memory
  end
  outcome = begin
    vm.value
  rescue RubyVM::Error
    vm.report[:limit]
  end
  $stdout.puts "#{name}: #{outcome}"
end
more = (peak - before) >> 20
puts more < 200 ? "within bounds" : "#{more} MB more"

# Deep chains are walked without recursion.
c = Object
20_000.times { c = Class.new(c) }
s = Class.new
100.times { s = s.singleton_class }
p c.ancestors.size, c.new.is_a?(Kernel), c < Object, s.inspect.scan("#<Class:").size
class Object; def everywhere = :here; end
def (c.superclass).only = :below
p c.new.everywhere, c.only, c.singleton_class.superclass.instance_methods(false)
m = Module.new { def from_module = super rescue :module }
Object.class_eval { include m }
p c.include?(m), c.new.from_module, c.ancestors.count(m)
