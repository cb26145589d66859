# The line of a statement is that of what it evaluates first, whether that takes an instruction or not.
require "coverage"
require "tmpdir"
SOURCE = <<~'RUBY'
  class Lines
    LIST = [
      1,
      2,
    ]
    def foo(b)
      case b
      when 1 then 2
      when 2
        3
      end
    end
    def bar(a)
      x = [
        a,
        foo(3),
      ]
      y =
        foo(1)
      if a &&
         y
        foo(2)
      elsif y
        x
      else
        a
      end
    end
    private def baz(a)
      case
      when a then 1
      else
        2
      end
    end
    def self.chain(list)
      list
        .map { |n| n + 1 }
        .select do |n|
          n > 1
        end
    end
    def both(a, b)
      return a ||
        b
    end
    def pattern(v)
      case v
      in [Integer => a, *]
        a
      in {a:}
        a
      end
    end
  end
  l = Lines.new
  l.foo(1); l.foo(2); l.foo(5)
  l.bar(1); l.bar(nil)
  l.send(:baz, 1); l.send(:baz, nil)
  Lines.chain([0, 1])
  l.both(nil, 1)
  l.pattern([1]); l.pattern({a: 1})
RUBY
Dir.mktmpdir do |dir|
  file = File.join(File.realpath(dir), "lines.rb")
  File.write(file, SOURCE)
  Coverage.start(lines: true, methods: true)
  load file
  result = Coverage.result.fetch(file)
  SOURCE.each_line.zip(result[:lines]) { |text, n| puts "#{n.inspect.rjust(3)} #{text}" }
  puts result[:methods].map(&:inspect)
  seen = []
  trace = TracePoint.new(:line) { |tp| seen << tp.lineno if tp.path == file }
  trace.enable { Lines.new.foo(2); Lines.new.bar(1) }
  p seen
end
