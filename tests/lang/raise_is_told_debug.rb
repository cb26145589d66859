# What `$DEBUG` tells of a raise runs methods of the program: those that raise end neither the stack nor the program.
class Mute < StandardError
  def to_s = raise(Mute)
  def message = raise(Mute)
end
$stderr = File.open(File::NULL, "w")
$DEBUG = true
begin
  raise Mute
rescue Mute => e
  $DEBUG = false
  p e.class
end
