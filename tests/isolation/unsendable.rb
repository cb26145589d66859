ch = RubyVM::Channel.new
x = 1
{ "Proc with a captured variable" => proc { x }, "inside an Array" => [1, [proc { x }]], "inside a Hash" => { io: proc { x } } }.each do |name, value|
  ch << value
  puts "#{name}: sent"
rescue TypeError => e
  puts "#{name}: #{e.class}"
end
ch << :nothing_before_me
p ch.recv
