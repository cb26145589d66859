# The installed pp.rb prints Hashes as Ruby 4.0 inspects them, and takes the place of Kernel#pp in silence.
$VERBOSE = true
$stderr = $stdout
require "pp"
print PP.pp({ a: 1, "b" => 2, "x y": [3], "b=": 4, nil => 5 }, +"")
print({ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: "b" * 30, "ccccccccccccccccc" => { d: ["e" * 40, "f" * 50] } }.pretty_inspect)
p pp({ a: { b: 1 } })

# A block may be meant for a definition in a branch not taken.
if true
  def takes(block); end
else
  def takes(block) = yield
end
takes(1) { 2 }
def ignores; end
ignores { 2 }
# Needs the standard library.
