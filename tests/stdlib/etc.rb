# Etc: what the system's files and tables say, in several ways; walks, and walks within walks.
require "etc"

def refused
  yield
rescue => e
  [e.class, e.message]
end
users = File.readlines("/etc/passwd", chomp: true).grep_v(/\A\s*(#|\z)/).map { |line| line.split(":", -1) }
walked = []
Etc.passwd { |user| walked << user }
p walked.map(&:name) == users.map(&:first), walked.all?(Etc::Passwd), walked.map(&:uid) == users.map { |u| u[2].to_i }
p users.map(&:first).uniq.all? { |name| Etc.getpwnam(name) == walked.find { |u| u.name == name } }
p walked.map(&:uid).uniq.all? { |uid| walked.include?(Etc.getpwuid(uid)) }, Etc.getpwuid == Etc.getpwuid(Process.uid)
Etc.setpwent
again = []
while (user = Etc.getpwent)
  again << user
end
Etc.endpwent
p again == walked, Etc.getpwent == walked[0], Etc.passwd == walked[1], Etc.endpwent
p Etc::Passwd.map(&:name) == walked.map(&:name), Etc::Passwd.each.class, Etc::Passwd.members, Etc::Group.members
groups = []
Etc.group { |group| groups << group }
p groups.all? { |g| Etc.getgrnam(g.name) == g && Etc.getgrgid(g.gid).gid == g.gid }, groups.all? { |g| g.mem.all?(String) }, Etc::Group.to_a == groups
p Etc.getgrgid.gid == Process.gid
p refused { Etc.passwd { Etc.passwd { nil } } }, refused { Etc.group { Etc.group { nil } } }, Etc.passwd { break 5 }, Etc.passwd { nil }
p refused { Etc.getpwnam("no-such-user") }, refused { Etc.getpwuid(2**31 - 7) }, refused { Etc.getgrnam("no-such-group") }, refused { Etc.getgrgid(2**31 - 7) }
p refused { Etc.getpwnam(nil) }.first, refused { Etc.getpwnam("a\0b") }.first, refused { Etc.getpwuid("0") }.first
p Etc.uname.keys, Etc.uname[:sysname], Etc.uname.values.all?(String), Etc.uname[:nodename] == File.read("/proc/sys/kernel/hostname").chomp
p Etc.nprocessors.positive?, Etc.systmpdir, Etc.sysconfdir
p Etc.sysconf(Etc::SC_PAGESIZE) >= 4096, Etc.sysconf(Etc::SC_CLK_TCK), Etc.sysconf(Etc::SC_NPROCESSORS_ONLN) >= Etc.nprocessors, Etc.sysconf(Etc::SC_VERSION), refused { Etc.sysconf(123_456) }.first
p Etc.confstr(Etc::CS_PATH), Etc.confstr(Etc::CS_GNU_LIBC_VERSION).start_with?("glibc"), refused { Etc.confstr(123_456) }.first
IO.pipe { |r, w| p w.pathconf(Etc::PC_PIPE_BUF), refused { r.pathconf(123_456) }.first }
File.open(__FILE__) { |f| p f.pathconf(Etc::PC_NAME_MAX) }
login = Etc.getlogin
p login.nil? || login.is_a?(String)
p %i[SC_ARG_MAX SC_OPEN_MAX CS_V7_ENV PC_VDISABLE].map { |name| Etc.const_get(name) }
