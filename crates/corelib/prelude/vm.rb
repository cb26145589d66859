# Prelude: parts of the core library written in Ruby.

class RubyVM
  autoload :AbstractSyntaxTree, "zakuro/abstract_syntax_tree"

  # $stdout or $stderr of a VM whose host takes what it writes.
  class HostOutput
    def initialize(sink)
      @__sink = sink
    end

    def write(*parts) = parts.sum { |part| RubyVM.__host_write(@__sink, part.to_s) }

    def print(*parts)
      write(*parts)
      nil
    end

    def <<(part)
      write(part)
      self
    end

    def puts(*lines)
      return print("\n") if lines.empty?
      lines.each { |line| __line(line, []) }
      nil
    end

    def printf(format, *args) = print(Kernel.format(format, *args))
    def p(*objects) = puts(*objects.map(&:inspect))

    def putc(char)
      write(Integer === char ? (char & 255).chr : char.to_s[0])
      char
    end

    def flush = self
    def fsync = 0
    def sync = true
    def sync=(value)
      value
    end
    def tty? = false
    alias isatty tty?
    def fileno = nil
    def closed? = false
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
