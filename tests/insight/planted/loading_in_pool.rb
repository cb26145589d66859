# Each job of a pool compiles what it needs.
RubyVM::Pool.open(size: 2) do |pool|
  pool.map(1..120) do |i|
    eval("class T#{i}; #{(0..120).map { |k| "def m#{k}(a, b) = a * #{k} + b" }.join("\n")}; end")
    i
  end
end
