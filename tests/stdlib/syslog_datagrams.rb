# Syslog: names, masks and options; what stands on the standard error with LOG_PERROR.
require "syslog"

$stderr = $stdout
def shown
  r, w = IO.pipe
  kept = STDERR.dup
  STDERR.reopen(w)
  yield
  STDERR.reopen(kept)
  w.close
  puts r.read.gsub(/\[\d+\]/, "[pid]")
ensure
  kept.close
end
def refused
  yield
rescue => e
  [e.class, e.message]
end
p Syslog.opened?, Syslog.ident, Syslog.mask, Syslog.inspect, refused { Syslog.log(1, "x") }, refused { Syslog.close }, refused { Syslog.mask = 1 }
shown do
  Syslog.open("test", Syslog::LOG_PERROR | Syslog::LOG_PID, Syslog::LOG_DAEMON) do |log|
    puts log == Syslog, log.ident, log.options, log.facility, log.mask, log.inspect
    log.log(Syslog::LOG_ALERT, "%s and %05d", "text", 42)
    log.err("100%%")
    log.debug("é")
    log.mask = Syslog::LOG_UPTO(Syslog::LOG_ERR)
    log.info("not shown")
    log.crit("shown\n")
    puts log.mask, refused { log.log(1, nil) }.first, refused { log.log("1", "x") }.first, refused { log.log(1) }.first
    puts refused { log.mask = "43" }.first, refused { Syslog.open }.inspect
  end
end
p Syslog.opened?, Syslog.reopen("again") { 1 } == Syslog rescue p [$!.class, $!.message]
Syslog.open("one")
p Syslog.reopen("two", Syslog::LOG_CONS).ident, Syslog.options, Syslog.facility, Syslog.mask
Syslog.mask = 255
Syslog.close
p Syslog::LOG_MASK(3), Syslog::LOG_UPTO(3), Syslog::LOG_LOCAL7, Syslog::LOG_AUTHPRIV, Syslog::Level::LOG_DEBUG, Syslog::Option::LOG_NDELAY, Syslog::Constants.include?(Syslog::Facility), Syslog.instance == Syslog
