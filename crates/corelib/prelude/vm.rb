# Prelude: parts of the core library written in Ruby.

class RubyVM
  autoload :AbstractSyntaxTree, "zakuro/abstract_syntax_tree"
  autoload :Pool, "zakuro/pool"
  autoload :Cluster, "zakuro/cluster"

  class Channel
    # Opens a channel through a server, which all who open the same name have, on any machine: `redis://host:port/stream` or `nats://host:port/subject`. The options are told at RubyVM::Channel::Remote,
    # which it is.
    def self.open(address, bound = nil, **options)
      begin
        RubyVM::Cluster
      rescue LoadError
        raise NotImplementedError, "this zakuro was built without channels through servers (the feature `cluster` of zakuro-cli)"
      end
      Remote.new(address, bound, **options)
    end
  end

  # $stdout or $stderr of a VM whose host takes what it writes.
  class HostOutput
    # A stream to the host, by the number of the output.
    def initialize(sink)
      @__sink = sink
    end

    # Gives texts to the host, and answers the number of their bytes.
    def write(*parts) = parts.sum { |part| RubyVM.__host_write(@__sink, part.to_s) }

    # Gives texts to the host; answers nil.
    def print(*parts)
      write(*parts)
      nil
    end

    # Gives one text to the host, and answers the stream.
    def <<(part)
      write(part)
      self
    end

    # Gives lines to the host; answers nil.
    def puts(*lines)
      return print("\n") if lines.empty?
      lines.each { |line| __line(line, []) }
      nil
    end

    # Gives a format with values to the host; answers nil.
    def printf(format, *args) = print(Kernel.format(format, *args))
    # Gives what `inspect` writes to the host, as lines; answers nil.
    def p(*objects) = puts(*objects.map(&:inspect))

    # Gives a character to the host, and answers it.
    def putc(char)
      write(Integer === char ? (char & 255).chr : char.to_s[0])
      char
    end

    # The stream: nothing waits.
    def flush = self
    # 0: nothing waits.
    def fsync = 0
    # True: nothing waits.
    def sync = true
    # Changes nothing.
    def sync=(value)
      value
    end
    # False.
    def tty? = false
    alias isatty tty?
    # Nil: there is no file descriptor.
    def fileno = nil
    # False.
    def closed? = false
    # Nil.
    def external_encoding = nil

    private def __line(line, outer)
      list = Array.try_convert(line)
      if list
        return write("[...]\n") if outer.any? { |o| o.equal?(list) }
        list.each { |part| __line(part, outer + [list]) }
      else
        text = line.to_s
        write(text.end_with?("\n") ? text : "#{text}\n")
      end
    end
  end
end
