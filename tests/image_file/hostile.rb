# Files whose content was changed, with a digest that fits: whatever they hold, reading them ends in an error or an image.
require "tmpdir"
require "digest"
Dir.mktmpdir do |dir|
  file, bad = "#{dir}/good", "#{dir}/bad"
  RubyVM.fork do
    require "set"
    class Shape
      LIST = [1, 2.5, "text", :sym, nil, 2**90, 1r, 2i, 1..2, /re/i, Time.at(0), Set[1], {a: 1, "b" => [2]}]
      attr_accessor :x
      def area(a, b = 2, *c, d: 4, &e) = [a, b, c, d].map { |v| v.to_s + "x" }
      define_method(:twice) { |n| n * 2 }
      def self.make = new.tap { |s| s.x = binding }
    end
    module Extra
      refine(String) { def extra = 1 }
    end
    S = Struct.new(:a, :b)
    $made = Shape.make
    $count = 0
    $closure = ->(n) { $count += n; [n] }
    $method = $made.method(:twice)
    $io = $stdout
    $queue = Queue.new << 1
    $default = Hash.new { |h, k| k }
    main = [1]
    RubyVM::Image.capture.save(file) { main << $closure.(2) }
  end.join
  good = File.binread(file)
  start = 16 + good[12, 4].unpack1("V") + 32 + 8 + 32
  header, content = good[0, start - 32], good[start..]
  seal = ->(text) { h = header.dup; h[-8, 8] = [text.bytesize].pack("Q<"); h + Digest::SHA256.digest(h + text) + text }
  abort "the header has another layout" unless seal.(content) == good
  random = Random.new((ENV["SEED"] || 1).to_i)
  counts = Hash.new(0)
  messages = Hash.new(0)
  try = ->(text) do
    File.binwrite(bad, seal.(text))
    RubyVM::Image.load(bad)
    counts[:loaded] += 1
  rescue RubyVM::Error => e
    counts[:refused] += 1
    messages[e.message.sub(bad, "FILE")] += 1
  end
  rounds = (ENV["ROUNDS"] || 700).to_i
  rounds.times do
    text = content.dup
    (1 + random.rand(3)).times { text.setbyte(random.rand(text.bytesize), random.rand(256)) }
    try.(text)
  end
  rounds.times do
    text = content.dup
    at = random.rand(text.bytesize)
    text.setbyte(at, text.getbyte(at) ^ (1 << random.rand(8)))
    try.(text)
  end
  (rounds / 4).times { try.(content[0, random.rand(content.bytesize)]) }
  (rounds / 4).times do
    from, n = random.rand(content.bytesize), 1 + random.rand(20)
    try.(content[0, from] + content[from + n..].to_s)
    try.(content[0, from] + random.bytes(n) + content[from..])
  end
  # Numbers that claim more than there is.
  (rounds / 2).times do
    text = content.dup
    text[random.rand(text.bytesize), 1] = [0xff, 0xff, 0xff, 0xff, random.rand(128)].pack("C*")
    try.(text)
  end
  try.("")
  try.("\0" * 5000)
  try.("\xff".b * 5000)
  p counts.values.sum == rounds * 2 + rounds / 4 * 3 + rounds / 2 + 3, counts[:refused] > rounds, messages.keys
  File.binwrite(bad, seal.(content))
  p RubyVM::Image.load(bad).spawn { [$made.area(1, 3), $closure.(5), $method.(4), $default[3], $queue.pop, Shape::LIST.size] }.value
end
