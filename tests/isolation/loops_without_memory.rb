# Without --gc=stress. (It fills memory: each object would be a collection of all before it.)
# Builtins' loops whose blocks go round in machine code, until there is no memory: their VM learns of it, and no other.
[
  "(1..).map { |x| x }", "(1..).each_slice(500) { |x| ($k ||= []) << x }", "Array.new(1 << 40) { |i| i }", "(1..).flat_map { |x| [x] * 1000 }", "(1..).sort_by { |x| -x }",
  "(1..).partition { |x| true }", "(1..).to_h { |x| [x, x] }", "(1..).group_by { |x| x & 1 }", "(1..).each_cons(900) { |x| ($k ||= []) << x }", "(1..).map.with_index { |x, i| i }",
  "h = (1..200_000).to_h { |i| [i, i] }; k = []; while true; k << h.transform_values { |v| v }; end", "h = (1..200_000).to_h { |i| [i, i] }; k = []; while true; k << h.select { |v, w| true }; end",
  "h = (1..200_000).to_h { |i| [i, i] }; k = []; while true; k << h.map { |v, w| [v] }; end", "a = [1]; a.map! { |x| a << x; x }"
].each do |text|
  vm = RubyVM.new("v", "-e", text, memory_limit: 40 << 20).start
  begin
    vm.join(60)
    puts "#{text}: ended"
  rescue StandardError, NoMemoryError => e
    puts "#{text}: #{e.message[/memory/] || e.message}"
  end
end
# Hashes that nobody has given the program are found all the same.
h = { a: 1, b: 2, c: 3 }
%i[transform_values select reject].each do |m|
  first = true
  h.__send__(m) do
    ObjectSpace.each_object(Hash) { |x| x.clear if x.keys == %i[a b c] && !x.equal?(h) } if first
    first = false
    true
  end
end
p h
