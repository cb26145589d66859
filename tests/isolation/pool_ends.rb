# VMs of a pool that end by a job's doing, and do not come to their end by themselves: they have their grace time, and others take their places. And VMs that end before they have a job.
def shown(values) = values.map { |v| RubyVM::Pool::JobError === v ? [v.class, v.message] : v }

puts "-- at_exit, finalizers, threads"
{
  "at_exit" => proc { at_exit { sleep }; exit },
  "a loop in at_exit" => proc { at_exit { nil while true }; exit 3 },
  "a finalizer" => proc { ObjectSpace.define_finalizer(Object.new, proc { sleep }); exit },
  "a thread" => proc { Thread.new { begin; sleep; ensure; sleep; end }; Thread.pass; exit },
  "an exception that ends it" => proc { at_exit { sleep }; raise SignalException, "TERM" },
}.each do |name, job|
  pool = RubyVM::Pool.new(size: 1, grace: 0.1, name: "ends")
  p name, shown(pool.map(1..3, errors: :return) { |n| n == 2 ? job.call : n }), pool.report.restarts
  pool.close
end
# Without one it has a second.
pool = RubyVM::Pool.new(size: 2, name: "second")
p shown(pool.map(1..4, errors: :return) { |n| at_exit { sleep } && exit if n < 3; n })
pool.close

puts "-- what comes to its end is left alone"
file = "/tmp/zakuro-pool-ends-#{$$}"
pool = RubyVM::Pool.new(size: 1, grace: 20, name: "done")
p shown(pool.map(1..2, errors: :return) { |n| at_exit { sleep 0.1; File.write(file, "written") } && exit if n == 1; n }), File.read(file)
File.delete(file)
pool.close

puts "-- a pool that closes"
[
  proc { at_exit { sleep }; 1 },
  proc { at_exit { nil while true }; 2 },
  proc { trap("EXIT") { sleep }; 3 },
  proc { Thread.new { begin; sleep; ensure; nil while true; end }; 4 },
].each do |job|
  pool = RubyVM::Pool.new(size: 2, grace: 0.1, name: "closes")
  p pool.submit(&job).value
  pool.close
end
RubyVM::Pool.open(size: 1, grace: 0.1, setup: -> { at_exit { sleep } }) { |pool| p pool.map([1, 2]) { |n| n } }
RubyVM::Pool.new(size: 1, grace: 0.1) { sleep }.close

puts "-- before there is a job"
[proc { RubyVM.current.kill }, proc { Thread.new { sleep 0.001; RubyVM.current.kill }; 1 }].each do |setup|
  pool = RubyVM::Pool.new(size: 2, name: "never", &setup)
  sleep 0.01 until pool.closed?
  begin
    pool.map(1..3) { |n| n }
  rescue RubyVM::Pool::SetupError => e
    p e.message.sub(/\d+ times/, "N times")
  end
end
