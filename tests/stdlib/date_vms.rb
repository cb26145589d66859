# Dates between VMs: each has its copy.
require "date"

dates = [Date.new(2001, 2, 3), DateTime.new(2001, 2, 3, 4, 5, 6.5, "+09:00"), Date.new(10**20), DateTime.new(2001, 2, 3, 0, 0, 1r / 3), Date.new(1500, 1, 1, Date::ENGLAND)]
there, back = RubyVM::Channel.new, RubyVM::Channel.new
vm = RubyVM.fork { 2.times { back << there.recv.map { |d| [d.inspect, d, d + 1] } } }
2.times do
  there << dates
  p back.recv.map { |text, date, later| [text, date == dates.find { |d| d == date }, later.inspect, date.start] }
end
vm.join
p RubyVM.fork { dates.map(&:to_s) }.value

class Own < Date
  attr_accessor :note
end
own = Own.new(2001, 2, 3)
own.note = "x"
copy = RubyVM.fork { [own, own.note, own.class.name, own + 1] }.value
p copy[0] == own, copy[0].note, copy[1..2], copy[3].to_s
p RubyVM.fork { Date.strptime("3.2.2001", "%d.%m.%Y") }.value, Ractor.make_shareable(Date.new(2001)).frozen?

# Reading a long text can be left.
vm = RubyVM.fork { loop { Date._strptime("9" * 3_000_000, "%s") } }
sleep 0.05
vm.kill(grace: 0)
p((vm.join rescue $!.class))
