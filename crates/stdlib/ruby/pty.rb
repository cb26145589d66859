# pty: programs on pseudo terminals (crates/stdlib/src/pty.rs).
module PTY
  private_constant :Sys

  # A program that PTY.check has found to have ended.
  class ChildExited < StandardError
    # `status`: The Process::Status of the program.
    attr_reader :status

    # An error with the status of a program.
    def initialize(status = nil)
      super(status ? "pty - #{status.stopped? ? "stopped" : "changed"}: #{status.pid}" : nil)
      @status = status
    end

    alias value status
  end

  class << self
    # A terminal's two sides: what a user has before him, and what a program has. With a block they are closed after it.
    def open
      fd, name = Sys.open
      master = IO.for_fd(fd, "r+", sync: true)
      slave = File.open(name, File::RDWR | File::NOCTTY)
      slave.sync = true
      return [master, slave] unless block_given?
      begin
        yield [master, slave]
      ensure
        [master, slave].each { |io| io.close unless io.closed? }
      end
    end

    # Starts a program on a terminal: what it writes, what it reads, its number. With a block these are yielded, and the result is nil.
    def spawn(*command)
      command = [ENV["SHELL"] || "/bin/sh"] if command.empty?
      master, slave = open
      begin
        pid = Sys.spawn(*command, in: slave, out: slave, err: slave)
      rescue SystemCallError
        master.close
        raise
      ensure
        slave.close
      end
      writer = master.dup
      writer.sync = true
      return [master, writer, pid] unless block_given?
      begin
        yield master, writer, pid
      ensure
        Process.detach(pid)
      end
      nil
    end

    alias getpty spawn

    # How a program ended, or nil when it goes on. With true that is raised.
    def check(pid, raise = false)
      return unless Process.wait(pid, Process::WNOHANG | Process::WUNTRACED)
      raise ? Kernel.raise(ChildExited.new($?)) : $?
    rescue Errno::ECHILD
      nil
    end
  end
end
