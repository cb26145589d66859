# Sizes that no machine has: the system's error, as the calls under it name it.
def try = (yield; :ok) rescue [$!.class, $!.message]
[2**62, 2**50, -1].each { |n| p try { IO::Buffer.new(n) } }
p try { IO::Buffer.new(10).resize(2**62) }
p try { IO::Buffer.new(10_000).resize(2**62) }
