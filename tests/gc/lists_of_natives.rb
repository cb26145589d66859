# Lists that builtins have over calls into Ruby, while the program lets go of what is in them.
def churn
  GC.start
  2_000.times.map { |i| [i, "new #{i}"] }
  nil
end

# WeakMap#inspect: what it shows of an entry runs code under which the others go.
def keys = Array.new(100) { |i| "key #{i} " * 3 }
$kept = keys
map = ObjectSpace::WeakMap.new
map[1] = 1
$kept.each { |k| map[k] = k }
class Integer
  alias plain_inspect inspect
  def inspect
    if $kept
      $kept = nil
      churn
    end
    plain_inspect
  end
end
p map.inspect.scan(/#<([\w:]+?):0x/).flatten.uniq - ["String", "ObjectSpace::WeakMap"]

# A report of causes: the first exception gets another cause while it tells about itself.
class Loose < StandardError
  def detailed_message(**)
    begin
      raise self, cause: IOError.new("another")
    rescue Loose
    end
    churn
    "loose"
  end
  alias message detailed_message
end
def deep(n)
  raise ArgumentError, "level #{n}" if n == 0
  begin
    deep(n - 1)
  rescue ArgumentError
    raise ArgumentError, "level #{n} " * 2
  end
end
def chained
  deep(20)
rescue ArgumentError
  begin
    raise Loose
  rescue Loose
    $!
  end
end
def run = chained
report = run.full_message(highlight: false)
p report.include?("loose"), report.valid_encoding?

# Marshal: an Array's variables are written behind its elements, one of which removes them.
class Sly
  def initialize(list) = @list = list
  def marshal_dump
    @list.remove_instance_variable(:@note) if @list.instance_variable_defined?(:@note)
    churn
    []
  end
  def marshal_load(_) = nil
end
class Noted < Array
  def self.make
    list = new
    list.instance_variable_set(:@note, "a note " * 5)
    list << Sly.new(list)
  end
end
begin
  note = Marshal.load(Marshal.dump(Noted.make)).instance_variable_get(:@note)
  p note == "a note " * 5
rescue RuntimeError
  # CRuby sees that it is gone.
  p true
end

# A copy gets the finalizers of its original: `object_id` takes them off that.
class Copied
  def object_id
    if $original
      ObjectSpace.undefine_finalizer($original)
      churn
    end
    super
  end
end
def finalizer(i)
  note = "done #{i} " * 3
  proc do
    puts "finalized" if note.start_with?("done") && !$ran
    $ran = true
  end
end
original = Copied.new
20.times { |i| ObjectSpace.define_finalizer(original, finalizer(i)) }
$original = original
copy = original.clone
$original = original = nil
churn
