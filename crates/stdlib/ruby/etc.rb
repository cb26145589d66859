# Etc: users, groups and settings of the system. Walks through the databases read their files: the C library's place in them is the process's.
module Etc
  VERSION = "1.4.6"

  # Numbers that Linux has for what can be asked.
  {
    PC_SYMLINK_MAX: 19, PC_CHOWN_RESTRICTED: 6, PC_NO_TRUNC: 7, PC_VDISABLE: 8, PC_ASYNC_IO: 10, PC_PRIO_IO: 11, PC_SYNC_IO: 9, SC_AIO_LISTIO_MAX: 23, SC_AIO_MAX: 24,
    SC_AIO_PRIO_DELTA_MAX: 25, SC_ARG_MAX: 0, SC_ATEXIT_MAX: 87, SC_BC_BASE_MAX: 36, SC_BC_DIM_MAX: 37, SC_BC_SCALE_MAX: 38, SC_BC_STRING_MAX: 39, SC_CHILD_MAX: 1,
    SC_CLK_TCK: 2, SC_COLL_WEIGHTS_MAX: 40, SC_DELAYTIMER_MAX: 26, SC_EXPR_NEST_MAX: 42, SC_HOST_NAME_MAX: 180, SC_IOV_MAX: 60, SC_LINE_MAX: 43, SC_LOGIN_NAME_MAX: 71,
    SC_NGROUPS_MAX: 3, SC_GETGR_R_SIZE_MAX: 69, SC_GETPW_R_SIZE_MAX: 70, SC_MQ_OPEN_MAX: 27, SC_MQ_PRIO_MAX: 28, SC_OPEN_MAX: 4, SC_ADVISORY_INFO: 132,
    SC_BARRIERS: 133, SC_ASYNCHRONOUS_IO: 12, SC_CLOCK_SELECTION: 137, SC_CPUTIME: 138, SC_FSYNC: 15, SC_IPV6: 235, SC_JOB_CONTROL: 7, SC_MAPPED_FILES: 16,
    SC_MEMLOCK: 17, SC_MEMLOCK_RANGE: 18, SC_MEMORY_PROTECTION: 19, SC_MESSAGE_PASSING: 20, SC_MONOTONIC_CLOCK: 149, SC_PRIORITIZED_IO: 13, SC_PRIORITY_SCHEDULING: 10,
    SC_RAW_SOCKETS: 236, SC_READER_WRITER_LOCKS: 153, SC_REALTIME_SIGNALS: 9, SC_REGEXP: 155, SC_SAVED_IDS: 8, SC_SEMAPHORES: 21, SC_SHARED_MEMORY_OBJECTS: 22,
    SC_SHELL: 157, SC_SPAWN: 159, SC_SPIN_LOCKS: 154, SC_SPORADIC_SERVER: 160, SC_SS_REPL_MAX: 241, SC_SYNCHRONIZED_IO: 14, SC_THREAD_ATTR_STACKADDR: 77,
    SC_THREAD_ATTR_STACKSIZE: 78, SC_THREAD_CPUTIME: 139, SC_THREAD_PRIO_INHERIT: 80, SC_THREAD_PRIO_PROTECT: 81, SC_THREAD_PRIORITY_SCHEDULING: 79,
    SC_THREAD_PROCESS_SHARED: 82, SC_THREAD_ROBUST_PRIO_INHERIT: 247, SC_THREAD_ROBUST_PRIO_PROTECT: 248, SC_THREAD_SAFE_FUNCTIONS: 68, SC_THREAD_SPORADIC_SERVER: 161,
    SC_THREADS: 67, SC_TIMEOUTS: 164, SC_TIMERS: 11, SC_TRACE: 181, SC_TRACE_EVENT_FILTER: 182, SC_TRACE_EVENT_NAME_MAX: 242, SC_TRACE_INHERIT: 183, SC_TRACE_LOG: 184,
    SC_TRACE_NAME_MAX: 243, SC_TRACE_SYS_MAX: 244, SC_TRACE_USER_EVENT_MAX: 245, SC_TYPED_MEMORY_OBJECTS: 165, SC_VERSION: 29, SC_V7_ILP32_OFF32: 237,
    SC_V7_ILP32_OFFBIG: 238, SC_V7_LP64_OFF64: 239, SC_V7_LPBIG_OFFBIG: 240, SC_V6_ILP32_OFF32: 176, SC_V6_ILP32_OFFBIG: 177, SC_V6_LP64_OFF64: 178,
    SC_V6_LPBIG_OFFBIG: 179, SC_2_C_BIND: 47, SC_2_C_DEV: 48, SC_2_CHAR_TERM: 95, SC_2_FORT_DEV: 49, SC_2_FORT_RUN: 50, SC_2_LOCALEDEF: 52, SC_2_PBS: 168,
    SC_2_PBS_ACCOUNTING: 169, SC_2_PBS_CHECKPOINT: 175, SC_2_PBS_LOCATE: 170, SC_2_PBS_MESSAGE: 171, SC_2_PBS_TRACK: 172, SC_2_SW_DEV: 51, SC_2_UPE: 97,
    SC_2_VERSION: 46, SC_PAGE_SIZE: 30, SC_PAGESIZE: 30, SC_THREAD_DESTRUCTOR_ITERATIONS: 73, SC_THREAD_KEYS_MAX: 74, SC_THREAD_STACK_MIN: 75,
    SC_THREAD_THREADS_MAX: 76, SC_RE_DUP_MAX: 44, SC_RTSIG_MAX: 31, SC_SEM_NSEMS_MAX: 32, SC_SEM_VALUE_MAX: 33, SC_SIGQUEUE_MAX: 34, SC_STREAM_MAX: 5,
    SC_SYMLOOP_MAX: 173, SC_TIMER_MAX: 35, SC_TTY_NAME_MAX: 72, SC_TZNAME_MAX: 6, SC_XOPEN_CRYPT: 92, SC_XOPEN_ENH_I18N: 93, SC_XOPEN_REALTIME: 130,
    SC_XOPEN_REALTIME_THREADS: 131, SC_XOPEN_SHM: 94, SC_XOPEN_STREAMS: 246, SC_XOPEN_UNIX: 91, SC_XOPEN_VERSION: 89, SC_PHYS_PAGES: 85, SC_AVPHYS_PAGES: 86,
    SC_NPROCESSORS_CONF: 83, SC_NPROCESSORS_ONLN: 84, CS_PATH: 0, CS_POSIX_V7_ILP32_OFF32_CFLAGS: 1132, CS_POSIX_V7_ILP32_OFF32_LDFLAGS: 1133,
    CS_POSIX_V7_ILP32_OFF32_LIBS: 1134, CS_POSIX_V7_ILP32_OFFBIG_CFLAGS: 1136, CS_POSIX_V7_ILP32_OFFBIG_LDFLAGS: 1137, CS_POSIX_V7_ILP32_OFFBIG_LIBS: 1138,
    CS_POSIX_V7_LP64_OFF64_CFLAGS: 1140, CS_POSIX_V7_LP64_OFF64_LDFLAGS: 1141, CS_POSIX_V7_LP64_OFF64_LIBS: 1142, CS_POSIX_V7_LPBIG_OFFBIG_CFLAGS: 1144,
    CS_POSIX_V7_LPBIG_OFFBIG_LDFLAGS: 1145, CS_POSIX_V7_LPBIG_OFFBIG_LIBS: 1146, CS_POSIX_V7_WIDTH_RESTRICTED_ENVS: 5, CS_V7_ENV: 1149,
    CS_POSIX_V6_ILP32_OFF32_CFLAGS: 1116, CS_POSIX_V6_ILP32_OFF32_LDFLAGS: 1117, CS_POSIX_V6_ILP32_OFF32_LIBS: 1118, CS_POSIX_V6_ILP32_OFFBIG_CFLAGS: 1120,
    CS_POSIX_V6_ILP32_OFFBIG_LDFLAGS: 1121, CS_POSIX_V6_ILP32_OFFBIG_LIBS: 1122, CS_POSIX_V6_LP64_OFF64_CFLAGS: 1124, CS_POSIX_V6_LP64_OFF64_LDFLAGS: 1125,
    CS_POSIX_V6_LP64_OFF64_LIBS: 1126, CS_POSIX_V6_LPBIG_OFFBIG_CFLAGS: 1128, CS_POSIX_V6_LPBIG_OFFBIG_LDFLAGS: 1129, CS_POSIX_V6_LPBIG_OFFBIG_LIBS: 1130,
    CS_POSIX_V6_WIDTH_RESTRICTED_ENVS: 1, CS_V6_ENV: 1148, CS_GNU_LIBC_VERSION: 2, CS_GNU_LIBPTHREAD_VERSION: 3, PC_FILESIZEBITS: 13, PC_LINK_MAX: 0, PC_MAX_CANON: 1,
    PC_MAX_INPUT: 2, PC_NAME_MAX: 3, PC_PATH_MAX: 4, PC_PIPE_BUF: 5, PC_2_SYMLINKS: 20, PC_ALLOC_SIZE_MIN: 18, PC_REC_INCR_XFER_SIZE: 14, PC_REC_MAX_XFER_SIZE: 15,
    PC_REC_MIN_XFER_SIZE: 16, PC_REC_XFER_ALIGN: 17
  }.each { |name, number| const_set(name, number) }

  Passwd = Struct.new(:name, :passwd, :uid, :gid, :gecos, :dir, :shell)
  Group = Struct.new(:name, :passwd, :gid, :mem)

  class << Passwd
    include Enumerable
    # Yields each user of /etc/passwd; without a block an Enumerator.
    def each(&block)
      return to_enum unless block
      Etc.passwd(&block)
      self
    end
  end

  class << Group
    include Enumerable
    # Yields each group of /etc/group; without a block an Enumerator.
    def each(&block)
      return to_enum unless block
      Etc.group(&block)
      self
    end
  end

  # A database: where a walk through it is, and whether a block is at work on it.
  class Table
    def initialize(path, &parse)
      @path, @parse = path, parse
    end

    def entries
      File.foreach(@path, chomp: true).filter_map { |line| @parse.call(line.split(":", -1)) unless line.match?(/\A\s*(?:#|\z)/) || line.start_with?("+", "-") }
    rescue SystemCallError
      []
    end

    def next
      @rest ||= entries
      @rest.shift
    end

    def rewind
      @rest = nil
    end

    def each(what)
      raise RuntimeError, "parallel #{what} iteration" if @busy
      @busy = true
      begin
        rewind
        while (entry = self.next)
          yield entry
        end
        nil
      ensure
        rewind
        @busy = false
      end
    end
  end
  private_constant :Table

  @users = Table.new("/etc/passwd") { |name, passwd, uid, gid, gecos, dir, shell| shell && Passwd.new(name, passwd, uid.to_i, gid.to_i, gecos, dir, shell) }
  @groups = Table.new("/etc/group") { |name, passwd, gid, members| members && Group.new(name, passwd, gid.to_i, members.split(",")) }

  class << self
    # The user of this name as Etc::Passwd; ArgumentError if there is none.
    def getpwnam(name) = (entry = __user(__name(name), nil)) ? Passwd.new(*entry) : raise(ArgumentError, "can't find user for #{name}")
    # The user of this number, without one that of the process; ArgumentError if there is none.
    #
    #     Etc.getpwuid(0).name   #=> "root"
    def getpwuid(uid = Process.uid) = (entry = __user(nil, __id(uid))) ? Passwd.new(*entry) : raise(ArgumentError, "can't find user for #{uid}")
    # The group of this name as Etc::Group; ArgumentError if there is none.
    def getgrnam(name) = (entry = __group(__name(name), nil)) ? Group.new(*entry) : raise(ArgumentError, "can't find group for #{name}")
    # The group of this number, without one that of the process; ArgumentError if there is none.
    def getgrgid(gid = Process.gid) = (entry = __group(nil, __id(gid))) ? Group.new(*entry) : raise(ArgumentError, "can't find group for #{gid}")

    private def __name(name) = String.try_convert(name) || raise(TypeError, "no implicit conversion of #{name.nil? ? "nil" : name.class} into String")
    private def __id(id) = Integer.try_convert(id) || raise(TypeError, id.nil? ? "no implicit conversion from nil to integer" : "no implicit conversion of #{id.class} into Integer")

    # Yields each user; without a block the next one, as `getpwent`.
    def passwd(&block) = block ? @users.each("passwd", &block) : @users.next
    # The next user of /etc/passwd, or nil after the last.
    def getpwent = @users.next
    # Lets `getpwent` begin with the first.
    def setpwent = @users.rewind
    alias endpwent setpwent

    # Yields each group; without a block the next one, as `getgrent`.
    def group(&block) = block ? @groups.each("group", &block) : @groups.next
    # The next group of /etc/group, or nil after the last.
    def getgrent = @groups.next
    # Lets `getgrent` begin with the first.
    def setgrent = @groups.rewind
    alias endgrent setgrent

    # The name of the user who logged in, or what the environment variable USER says.
    def getlogin = __login || ENV["USER"]

    # A Hash of `:sysname`, `:nodename`, `:release`, `:version` and `:machine`.
    def uname = %i[sysname nodename release version machine].zip(__uname).to_h

    # The directory for temporary files: "/tmp".
    def systmpdir = "/tmp"
    # The directory for settings: "/etc".
    def sysconfdir = "/etc"
  end
end

class IO
  # A number of a file or pipe, as `Etc::PC_PIPE_BUF` names them; nil when there is no limit.
  def pathconf(name) = Etc.__pathconf(fileno, name)
end
