# What nothing answers, by a method_missing with keywords: placed as in a call of it.
class Asked
  def method_missing(name, *rest, key: 1, **more, &blk)
    return super if name == :gone
    [name, rest, key, more, blk&.call]
  end
end
class AskedFor
  def method_missing(name, a = 5, key:, other: key) = [name, a, key, other]
end
class AskedPlain
  def method_missing(name, *rest) = [name, rest]
end
class AskedNone
  def method_missing(name, key: 0) = [name, key]
end
s = proc { :given }
def asks_all(o, s)
  [o.x(key: 2), o.x(1, key: 3, z: 4), o.x(z: 5, &s), o.x(key: 6) { 7 }, o.x=(1), o.(key: 8)]
end
3.times { |i| p asks_all(Asked.new, s) if i == 2 }
p((Asked.new.gone(key: 1) rescue [$!.class, $!.name, $!.args]))
p AskedFor.new.x(key: 1), AskedFor.new.x(2, key: 1), AskedFor.new.x(2, other: 4, key: 3)
[-> { AskedFor.new.x(other: 1) }, -> { AskedFor.new.x(key: 1, z: 2) }, -> { AskedFor.new.x(1, 2, key: 1) }, -> { AskedNone.new.x(1, key: 2) }].each { |l| p((l.() rescue [$!.class, $!.message])) }
p AskedPlain.new.x(key: 1), AskedNone.new.x(key: 4), AskedNone.new.key(key: 5)
class Asked
  private def hidden(key: 0) = key
  def inner = hidden(key: 9)
  def vanishing = missing_here(key: 3)
end
p Asked.new.hidden(key: 5), Asked.new.inner, Asked.new.vanishing
