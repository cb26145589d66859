# Names of broken text, patterns of pieces, singleton classes of what is frozen, calls of `method_missing` where it is undefined.
def try
  p yield
rescue Exception => e
  puts "#{e.class}: #{e.message}"
end

try { Math.const_defined?("\xC3") }
try { Math.const_get("\xC3") }
try { Math.const_get("A::\xC3") }
try { Object.const_set("\xC3", 1) }

counted = Object.new
def counted.to_str = (@asked = @asked.to_i + 1; "PI")
p Math.const_get(counted), Math.const_defined?(counted), counted.instance_variable_get(:@asked)

try { s = "\xff"; /a#{s}/ }
try { s, t = "\xc3", "\xa9"; /#{s}#{t}/ }
try { s = "\xff" + '\u3042'; /#{s}/ }
try { s = "é"; /#{s}\w/.source }
US = "# encoding: US-ASCII\n"
try { eval(US + '/\xc2\xa1#{ }/u.encoding') }
try { eval(US + '/#{ }\xc2\xa1/u').match?("¡") }
try { eval(US + '/\xc2\xa1#{ }/n.encoding') }
try { eval(US + '/\xc2\xa1#{"a"}/u.source') }

# Who is first decides what `o` keeps.
lock = Mutex.new
once = proc { |i| /#{lock.unlock; sleep 0.05; i}/o }
found = []
[1, 2].map { |i| Thread.new { lock.lock; found << once.call(i) } }.each(&:join)
p found

x = Object.new
chain = [x.singleton_class]
2.times { chain << chain.last.singleton_class }
p chain.map(&:frozen?)
x.freeze
p chain.map(&:frozen?)
c = Class.new
d = Class.new(c)
d.singleton_class.singleton_class
d.freeze
p [d, d.singleton_class, d.singleton_class.singleton_class].map(&:frozen?), [c, c.singleton_class].map(&:frozen?)
begin; def x.foo = 1; rescue => e; p e.class; end

class Deaf
  undef_method :method_missing
  def inspect = "deaf"
end
try { Deaf.new.method_missing }
try { Deaf.new.method_missing(:a) }
try { Deaf.new.bar }

# A backslash that stands last escapes nothing.
require "tmpdir"
Dir.mktmpdir do |dir|
  File.write("#{dir}/a", "")
  Dir.chdir(dir) { p Dir.glob("a\\"), Dir.glob("\\a"), Dir.glob("?\\") }
end
p File.fnmatch("a\\", "a"), File.fnmatch("a\\", "a\\"), File.fnmatch("a\\", "a\\", File::FNM_NOESCAPE), File.fnmatch("*\\", "ab")
