# An Array or Hash that is moved away in the middle of a match raises Ractor::MovedError.
class Subject
  def deconstruct = $array
  def deconstruct_keys(_) = $hash
end
class Move
  def self.===(_)
    Ractor.new { Ractor.receive }.send($moving, move: true)
    $again = !$again
  end
end

def try
  $again = false
  $array = $moving = [1, 2, 3]
  $hash = { a: 1, b: 2 }
  yield
rescue Ractor::MovedError => e
  p e.class
end

try do
  case Subject.new
  in [Move, Integer => q, r] then p q, r
  end
end
try do
  case Subject.new
  in [*, Move, *post] then p post
  end
end
try do
  $moving = $hash
  case Subject.new
  in { a: Move, b: Integer => q } then p q
  end
end
try do
  $moving = $hash
  case Subject.new
  in { a: Move, **rest } then p rest
  end
end
try do
  case 1
  when *($again = $moving = [Move, 2]) then p :first
  end
end
