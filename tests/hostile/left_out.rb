# Methods that are not called, with the reason; and those that may wait until the wall limit.

LEFT_OUT = {
  /\A(Kernel|Process|IO)\W(fork|exec|system|spawn|`|popen|daemon)\z/ => "starts programs or leaves the process",
  /\AKernel\W(syscall|gem_original_require|require_relative)\z/ => "whatever the kernel offers; files of the installed Ruby",
  /\AProcess\W(kill|setpgid|setpgrp|setsid|setpriority|setrlimit|setproctitle|initgroups|(uid|gid|euid|egid|groups|maxgroups)=)\z/ => "changes the process or others",
  /\AProcess::(UID|GID|Sys)\W/ => "changes whose the process is",
  /\AIO\W(ioctl|fcntl)\z/ => "whatever the kernel offers",
  /\A(File|Pathname)\W(chmod|chown|lchown|lchmod|mkfifo|umask)\z/ => "modes and owners of files",
  /\A(Kernel|Signal)\Wtrap\z/ => "the process's signals",
  /\A(Dir|Pathname)\W(chroot|rmtree)\z/ => "changes the process; removes trees",
  /\ASocket\W(tcp_server_loop|udp_server_loop|udp_server_loop_on|unix_server_loop|accept_loop)\z/ => "serves for ever",
}.freeze

# An Integer is a descriptor here: only such as nobody has, since the runtime has some of the small ones.
DESCRIPTORS = /\A(Kernel|IO|File|Dir|BasicSocket|Socket|\w+Socket|\w+Server|Socket::Sys|Zlib::Gzip\w+|Pathname)\W|\A(Process|Etc|RubyVM)\W/

# What waits for others, or goes on for ever by its nature: it may reach the wall limit, which is short for it.
WAITS = Regexp.union(
  /\A(Thread|Thread::\w+|Monitor|MonitorMixin(::\w+)?|Ractor(::Port)?|RubyVM(::\w+)?|Fiber)\W/, /\AKernel\W(sleep|loop|select|gets|readline|readlines|require|load)\z/,
  /\A(IO|File|ARGF.class|IO::generic_readable|\w*Socket|\w+Server|Addrinfo|Socket::\w+)\W/, /\AProcess\W(wait|waitall|waitpid2?|wait2|detach)\z/,
)
