# Each VM has a log of its own: names, options and masks of one are not another's, though the process has one openlog. /dev/log itself is the system's.
require "syslog"

Syslog.open("outer", Syslog::LOG_PID)
Syslog.mask = 3
seen = RubyVM.new("inner", "-e", <<~RUBY).start(out = RubyVM::Channel.new).join && out.recv
  require "syslog"
  opened = Syslog.opened?
  Syslog.open("inner", Syslog::LOG_CONS, Syslog::LOG_MAIL)
  Syslog.mask = 255
  RubyVM::ARGV[0] << [opened, Syslog.ident, Syslog.mask]
RUBY
p seen, Syslog.ident, Syslog.mask, Syslog.options
p RubyVM.fork { was = Syslog.ident; Syslog.reopen("forked"); [was, Syslog.ident] }.value, Syslog.ident
Syslog.close
