# Without --gc=stress. What native code takes in large blocks counts at once for all VMs under one limit: 20 of them that each make 8 MB in a builtin do not get 160 MB together.
def peak = File.read("/proc/self/status")[/VmHWM:\s*(\d+)/, 1].to_i / 1024.0

LIMIT = 64
sources = {
  "gsub" => 's = "x" * 2_000_000; loop { s.gsub("x", "yyyy") }',
  "doubled Strings" => 's = +"x"; loop { s << s }',
  "kept Strings" => "a = []; loop { a << 'x' * 1000 }",
}
sources.each do |name, source|
  before = peak
  outer = <<~RUBY
    vms = Array.new(20) { RubyVM.new("child", "-e", #{source.inspect}, wall_limit: 1, grace: 0).start }
    vms.each { |vm| vm.join rescue nil }
  RUBY
  maker = RubyVM.new("maker", "-e", outer, memory_limit: LIMIT << 20).start
  begin
    maker.join
  rescue RubyVM::Error
    # Which of them is refused, nobody knows.
  end
  grown = peak - before
  puts "#{name}: #{grown < LIMIT * 1.25 ? "within a quarter" : "%.1f MB" % grown}"
end
