# Who the process is: the main VM may change it, others may only ask.
p Process::UID.eid == Process.euid, Process::GID.rid == Process.gid
p Process::Sys.getuid == Process.uid
p Process::UID.from_name("root")
begin
  Process.euid = "no such user"
rescue ArgumentError
  p $!.message
end
begin
  Process.uid = Object.new
rescue TypeError
  p $!.message
end
Process.euid = Process.euid
Process::Sys.setegid(Process.egid)

vm = RubyVM.fork do
  tries = {
    uid: -> { Process.uid = Process.uid }, euid: -> { Process.euid = Process.euid }, gid: -> { Process.gid = Process.gid },
    groups: -> { Process.groups = Process.groups }, session: -> { Process.setsid }, group: -> { Process.setpgrp },
    priority: -> { Process.setpriority(Process::PRIO_PROCESS, 0, 0) }, change: -> { Process::UID.change_privilege(Process.uid) }
  }
  tries.map do |name, change|
    [name, change.call]
  rescue SystemCallError
    [name, $!.class]
  end
end
vm.value.each { |name, result| puts "#{name}: #{result.inspect}" }

# A child is the VM's own.
child = RubyVM.fork do
  pid = spawn("sleep 5")
  Process.setpriority(Process::PRIO_PROCESS, pid, 5)
  got = Process.getpriority(Process::PRIO_PROCESS, pid)
  Process.kill(:KILL, pid)
  Process.wait(pid)
  got
end
p child.value

p Process.maxgroups
Process.maxgroups = 10
p Process.maxgroups
[-> { Process.maxgroups = 0 }, -> { Process.groups = [0] * 11 }].each do |change|
  change.call
rescue ArgumentError
  p $!.message
end

# `$?` is the thread's own; Process::Status.wait leaves it alone.
system("exit 3")
t = Thread.new { before = $?; system("exit 4"); [before, $?.exitstatus] }
p t.value, $?.exitstatus
s = Process::Status.wait(spawn("exit 7"))
p s.exitstatus, $?.exitstatus
p Process::Status.wait.pid
pid = spawn("sleep 5")
p Process::Status.wait(pid, Process::WNOHANG)
Process.kill(:KILL, pid)
p Process::Status.wait(pid).termsig
