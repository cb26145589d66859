# What the gem debug asks of its extension: running frames, sequences, events. The module's Ruby part is the gem's; here is as much of it as the natives need.
require "tmpdir"

module DEBUGGER__
  VERSION = "1.0"
  FrameInfo = Struct.new(:location, :self, :binding, :iseq, :class, :frame_depth)
end
require "debug/debug"
p DEBUGGER__::SO_VERSION

class Account
  def initialize(balance) = @balance = balance

  def each_time(n)
    left = @balance
    [1].each { |time| yield left, time, n }
  end
end

def shown(frames)
  frames.map do |f|
    variables = f.binding && f.binding.local_variables.sort.to_h { |v| [v, f.binding.local_variable_get(v)] }.except(:frames, :account, :codes, :seen, :dir, :file, :session)
    [f.location.lineno, f.location.label, f.class, f.iseq&.type, variables]
  end
end

account = Account.new(10)
frames = nil
account.each_time(3) { |a, b, c| frames = DEBUGGER__.capture_frames(nil) }
shown(frames).each { |f| p f }
p frames.map(&:frame_depth), frames[2].self == [1], frames[3].self.equal?(account)
p DEBUGGER__.capture_frames(File.realpath(__FILE__)), DEBUGGER__.frame_depth

# Sequences
codes = RubyVM::InstructionSequence.of(Account.instance_method(:each_time))
p codes.type, codes.first_line, codes.last_line, codes.parameters_symbols
p RubyVM::InstructionSequence.of(proc { |a, *b, c: 1, **| a }).parameters_symbols
events = codes.to_a[13].grep_v(Array).slice_when { |_, e| Integer === e }.to_h { |line, *names| [line, names] }
p events
p ObjectSpace.count_iseq > 5
found = []
ObjectSpace.each_iseq { |i| found << i.type if i.path == __FILE__ && [i.first_line, i.label] == [codes.first_line, codes.label] }
p found

# What is compiled now keeps its variables where a debugger can set them; scripts are seen when they are compiled.
Dir.mktmpdir do |dir|
  file = "#{dir}/session.rb"
  File.write(file, <<~RUBY)
    def sum(list)
      total = 0
      list.each do |n|
        total += n
      end
      total
    end
    def plain(a, b = a)
      c = b
      c
    end
  RUBY
  seen = []
  TracePoint.new(:script_compiled) { |tp| s = tp.instruction_sequence; seen << [File.basename(s.path), s.first_lineno, s.label, tp.eval_script] }.enable { load file }
  p seen
  TracePoint.new(:line) { |tp| DEBUGGER__.capture_frames(nil)[1].binding.local_variable_set(:total, 100) if tp.lineno == 4 }.enable { p sum([1, 2]) }
  TracePoint.new(:line) { |tp| tp.binding.eval("b = 5") if tp.lineno == 9 }.enable { p plain(1) }
  # At a call its parameters are known, at a return its last line.
  TracePoint.new(:call, :return) { |tp|
    next unless tp.path == file
    frame = DEBUGGER__.capture_frames(nil)[1]
    p [tp.event, tp.lineno, frame.location.lineno, frame.binding.local_variables, frame.binding.local_variable_get(:a)]
  }.enable { plain(7) }
end
