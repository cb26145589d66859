# Without --gc=stress. (Collections empty caches while the first versions are made, of which there are but a few.)
# A method that is given optional parameters, or keywords by name, becomes part of its caller's machine code, as one with required parameters does: that is longer where the method is.
def bytes(name)
  deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 20
  until RubyVM::JIT.version(method(name)) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    send(name, 1000)
  end
  # A better version may follow.
  300.times { send(name, 1000) }
  RubyVM::JIT.version(method(name))[:bytes]
end

forms = {
  plain: ["def METHOD(a) = (BODY; a)", "METHOD(i)"],
  left_out: ["def METHOD(a, b = 2) = (BODY; a)", "METHOD(i)"],
  given: ["def METHOD(a, b = 2, c = b) = (BODY; a)", "METHOD(i, 3)"],
  named: ["def METHOD(x, a:, b: 2) = (BODY; a)", "METHOD(i, a: i)"],
  reordered: ["def METHOD(a, b: 1, c: b) = (BODY; a)", "self.METHOD(i, c: 3, b: 2)"],
  made: ["class CLASS; def initialize(a, b = 2) = (BODY; @a = a); end", "CLASS.new(i)"],
  # Not inlined.
  rest: ["def METHOD(a, *rest) = (BODY; a)", "METHOD(i)"]
}
forms.each do |form, (method, call)|
  lengths = { short: "a", long: "a = a + 1 if a > 1; a = a + 2 if a > 2; a = a + 3 if a > 3" }.map do |size, body|
    names = { "METHOD" => "#{form}_#{size}", "CLASS" => "#{form}_#{size}".capitalize, "BODY" => body }
    eval(<<~RUBY.gsub(/METHOD|CLASS|BODY/, names))
      #{method}
      def of_METHOD(n)
        i = 0
        while i < n
          #{call}
          i += 1
        end
      end
    RUBY
    RubyVM::JIT.enabled? ? bytes(:"of_#{form}_#{size}") : 0
  end
  puts "#{form}: #{RubyVM::JIT.enabled? ? lengths[1] > lengths[0] + 100 : form != :rest}"
end
