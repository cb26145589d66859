# &&= and += on every kind of variable.
@i &&= 1
p @i
@i = 1
@i &&= @i + 1
p @i
$and_assign &&= 1
p $and_assign
$and_assign = 1
$and_assign &&= $and_assign + 2
p $and_assign
class AndAssign
  @@c = 1
  @@c &&= @@c + 3
  p @@c
  K = 5
  $VERBOSE = nil
  K &&= K + 1
  p K
  K += 10
  p K
end
AndAssign::K &&= 7
p AndAssign::K
