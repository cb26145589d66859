# A `return` in a block of a class body leaves the lambda or method around the body.
def t(n)
  r = yield
  puts "#{n}: #{r.inspect}"
rescue LocalJumpError => e
  puts "#{n}: LJE #{e.message} #{e.reason.inspect} #{e.exit_value.inspect}"
end
t(1) { lambda { class A; class B; proc{return :ng}.call; end; end; :end }.call }
t(2) { lambda { class A; proc{return :ng}.call; end; :end }.call }
$proc = proc{return}
t(3) { lambda { class A; class B; $proc.call; end; end; :end }.call }
def m; class << self; proc { return 5 }.call; end; 6; end
t(4) { m }
def m2; class << self; [1].each { return 5 }; end; 6; end
t(5) { m2 }
t(6) { lambda { class A; begin; proc{return :ng}.call; ensure; p :ens; end; end; :end }.call }
t(7) { lambda { class A; begin; proc{return :ng}.call; ensure; p :ens; end; p :after; end; :end }.call }
def m3; x = class << self; $pr = proc { return 5 }; 1; end; $pr.call; 6; end
t(8) { m3 }
class A; $pr = proc { return 5 }; end
t(9) { $pr.call; 3 }
t(10) { lambda { class A; eval("proc{return :ng}").call; end; :end }.call }
t(11) { lambda { class A; lambda {return :ng}.call; p :here; end; :end }.call }
t(12) { lambda { A.class_eval { return 9 }; 3 }.call }
t(13) { lambda { A.class_eval "proc { return 9 }.call"; 3 }.call }
t(14) { lambda { class A; 1.times { 1.times { return 3 } }; end; :end }.call }
t(15) { Thread.new { Thread.current.report_on_exception = false; class A; 1.times { 1.times { return 3 } }; end; :end }.value }

begin
  class A
    [1].each { |x| p x; return }
    p :not
  end
rescue LocalJumpError => e
  p e.message
end
# The body of a module in a loop, in a block that is no lambda.
def looped
  [1, 2].each do |i|
    class << self
      begin
        [3].each { |x| return x }
      ensure
        p :left
      end
    end
  end
  :end
end
p looped
