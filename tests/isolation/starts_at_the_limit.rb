# A VM that is started where its family has used up what it may have begins or ends; it does not stay between the two.
STARTS = {
  "new" => "RubyVM.new('x', '-e', '1').start",
  "fork" => "RubyVM.fork { 1 }",
  "image" => "IMAGE.spawn { 1 }",
}
STARTS.each do |name, start|
  code = <<~RUBY
    IMAGE = RubyVM::Image.new { }
    $s = 'a' * 3_000_000
    5.times { RubyVM.fork { 1 }.value }
    begin; kept = []; loop { kept << "h" * 100_000 }; rescue NoMemoryError; kept = nil; end
    $s << '1'
    vm = #{start}
    begin
      vm.join(20)
    rescue RubyVM::Error
      # Refused: it has ended.
    end
    puts "#{name}: \#{vm.alive? ? "neither begins nor ends" : "over"}"
  RUBY
  vm = RubyVM.new("family", "-e", code, memory_limit: 40_000_000).start
  begin
    vm.join
  rescue RubyVM::Error
    puts "#{name}: over"
  end
end
