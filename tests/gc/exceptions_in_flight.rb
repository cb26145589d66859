scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 50 : 5_000
class Err < StandardError
  attr_reader :data
  def initialize(d)
    @data = d
    super("err #{d[0]}")
  end
end
ok = true
scale.times do |i|
  begin
    begin
      raise Err.new(["data #{i}"])
    ensure
      10.times { "garbage" * 3 }
    end
  rescue Err => e
    ok &&= e.message == "err data #{i}" && e.data == ["data #{i}"] && e.backtrace.size >= 1
  end
  r = catch(:t) { throw :t, "thrown #{i}" }
  ok &&= r == "thrown #{i}"
end
p ok
