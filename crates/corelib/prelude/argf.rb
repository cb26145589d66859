# Prelude: ARGF, the files named in ARGV one after the other, or $stdin.
#
# Each VM has one that reads its ARGV; `ARGF.class.new(*names)` makes more. What is kept: @file and @filename, the stream being read or the last one;
# @at, :next when the next file is to be opened before reading, :open while one is read, :stdin when no files were named; @started once a name was looked at.
class ArgfClass
  include Enumerable

  # A stream of the files with these names.
  def initialize(*names)
    @argv = names
  end

  # The names of files that are left.
  def argv = @argv || ARGV

  # "ARGF"
  def to_s = "ARGF"
  alias inspect to_s

  # The file that is read, or $stdin.
  def file
    __open
    @file
  end

  # The name of the file that is read; "-" for $stdin.
  def filename
    __open
    @filename
  end
  alias path filename

  # The number of lines that were read, of all files.
  def lineno = @lineno || 0

  # Sets the number of lines, that of ARGF itself also in `$.`.
  def lineno=(number)
    @lineno = Integer === number ? number : Integer(number)
    $. = @lineno unless @argv
  end

  # An Array of all lines that are left.
  def readlines(*args, **options)
    lines = []
    while __open
      lines.concat(@file.readlines(*args, **options))
      break if @at == :stdin
      __close
    end
    self.lineno = lineno + lines.size
    lines
  end
  alias to_a readlines

  # Yields each line of all files; without a block an Enumerator.
  def each_line(*args, **options)
    return to_enum(:each_line, *args, **options) unless block_given?
    __each(:each_line, *args, **options) do |line|
      self.lineno = lineno + 1
      yield line
    end
  end
  alias each each_line

  # Yields each character of all files; without a block an Enumerator.
  def each_char
    return to_enum(:each_char) unless block_given?
    __each(:each_char) { |char| yield char }
  end

  # Yields each byte of all files; without a block an Enumerator.
  def each_byte
    return to_enum(:each_byte) unless block_given?
    __each(:each_byte) { |byte| yield byte }
  end

  # Yields each codepoint of all files; without a block an Enumerator.
  def each_codepoint
    return to_enum(:each_codepoint) unless block_given?
    __each(:each_codepoint) { |code| yield code }
  end

  # What is left of all files, or at most `length` bytes; nil at the end.
  def read(length = nil, buffer = nil)
    buffer&.clear
    text = buffer
    while __open
      part = @file.read(length && length - (text ? text.bytesize : 0))
      if part
        text ? text << part : text = part
      end
      if part.nil? || length.nil?
        break if @at == :stdin
        __close
      elsif text.bytesize >= length
        break
      end
    end
    text
  end

  # What is there of the file, at most `max` bytes, "" at the end of a file that others follow; EOFError at the end of the last.
  def readpartial(max, buffer = nil) = __partial(buffer, true) { @file.readpartial(max, *buffer) }

  # The same without waiting: raises IO::WaitReadable, or answers `:wait_readable` with `exception: false`.
  def read_nonblock(max, buffer = nil, exception: true)
    unless true.equal?(exception) || false.equal?(exception)
      raise ArgumentError, "expected true or false as exception: #{exception.inspect}"
    end
    __partial(buffer, exception) { @file.read_nonblock(max, *buffer, exception: exception) }
  end

  # The next character, or nil at the end of all files.
  def getc = __one { @file.getc }
  # The next byte, or nil at the end of all files.
  def getbyte = __one { @file.getbyte }
  # The next character; EOFError at the end of all files.
  def readchar = getc || raise(EOFError, "end of file reached")
  # The next byte; EOFError at the end of all files.
  def readbyte = getbyte || raise(EOFError, "end of file reached")

  # Whether the file that is read is at its end.
  def eof?
    __open
    @file.eof?
  end
  alias eof eof?

  # Goes on with the next file.
  def skip
    __close if @started && @at == :open
    self
  end

  # Closes the file, goes on with the next one, and counts lines anew.
  def close
    __open
    __close unless @at == :stdin
    @lineno = 0
    self
  end

  # Whether the file that is read is closed.
  def closed?
    __open
    @file.closed?
  end

  # The file descriptor of the file that is read; ArgumentError if none is left.
  def fileno = __stream("no stream").fileno
  alias to_i fileno

  # The file that is read, as IO.
  def to_io
    __open
    @file.to_io
  end

  # The byte in the file that is read next.
  def pos = __stream("no stream to tell").pos
  alias tell pos
  # Sets the byte in the file that is read next.
  def pos=(offset)
    __stream("no stream to set position").pos = offset
  end

  # Goes to a byte of the file, counted from its start, its end or where it stands.
  def seek(offset, whence = IO::SEEK_SET) = __stream("no stream to seek").seek(offset, whence)

  # Goes to the start of the file that is read.
  def rewind
    stream = __stream("no stream to rewind")
    read = stream.lineno
    @lineno = lineno - read
    stream.rewind
  end

  # Reads all files as binary ones.
  def binmode
    @binmode = true
    __open
    @file.binmode
    self
  end

  # Whether files are read as binary ones.
  def binmode? = @binmode ? true : false

  # The encoding of what is read.
  def external_encoding = @file ? @file.external_encoding : Encoding.default_external
  # The encoding that what is read is converted to, or nil. Before a file was read, that of the texts of files.
  def internal_encoding = @file ? @file.internal_encoding : Encoding.default_external

  # Sets the encodings of this file and those that follow.
  def set_encoding(...)
    stream = __stream("no stream to set encoding")
    stream.set_encoding(...)
    @encodings = [stream.external_encoding, stream.internal_encoding]
    self
  end

  # The suffix of the copies when files are edited in place, "" for none; nil when they are not.
  def inplace_mode
    return @inplace || nil if defined?(@inplace)
    @argv ? nil : $-i
  end

  # Edits files in place from the next one on: what is written goes there. nil ends that.
  def inplace_mode=(suffix)
    suffix &&= suffix.to_str.dup
    raise ArgumentError, "string contains null byte" if suffix&.include?("\0".encode(suffix.encoding))
    @inplace = suffix
  end

  # The file that is written when files are edited in place, else IOError.
  def to_write_io
    __open
    raise IOError, "not opened for writing" unless inplace_mode && @writer
    @writer
  end

  # Writes texts to the edited file.
  def write(*objects) = to_write_io.write(*objects)

  # Prints objects to the edited file.
  def print(*objects)
    to_write_io.print(*objects)
  end

  # Prints lines to the edited file.
  def puts(*objects)
    to_write_io.puts(*objects)
  end

  # Prints a format with values to the edited file.
  def printf(*args)
    to_write_io.printf(*args)
  end

  # Prints a character to the edited file.
  def putc(object)
    to_write_io.putc(object)
  end

  private

  def initialize_copy(other)
    @argv = other.argv.dup
    self
  end

  # Sees to it that @file is what is to be read next; false behind the last file.
  def __open
    if @started
      @at = :next if @at == :stdin && !argv.empty?
    else
      @started = true
      @at = argv.empty? ? :stdin : :next
    end
    case @at
    when :next
      # $stdout goes on writing the last edited file.
      until argv.empty?
        return true if __open_file(argv.shift)
      end
      return false
    when :stdin
      @file = $stdin
      @filename = "-"
      if inplace_mode
        warn("Can't do inplace edit for stdio", uplevel: 0)
        __finish_edit
      end
    end
    true
  end

  # False: the file is passed over.
  def __open_file(name)
    @filename = name = File.path(name)
    if name == "-"
      @file = $stdin
      warn("Can't do inplace edit for stdio; skipping", uplevel: 0) if inplace_mode
      return false if inplace_mode
      @at = :open
      return true
    end
    file = File.open(name)
    return false if inplace_mode && !__edit(file)
    @file = file
    @at = :open
    @file.binmode if @binmode
    @file.set_encoding(*@encodings) if @encodings
    true
  end

  # `-i`: the file's name goes to a new file that $stdout writes. False: the file can't be moved away.
  def __edit(file)
    __finish_edit
    mode = file.stat.mode & 0o7777
    return false unless __move_away(file)
    @writer = File.new(@filename, File::WRONLY | File::CREAT | File::TRUNC, mode)
    @stdout = $stdout
    $stdout = @writer
    true
  end

  def __move_away(file)
    suffix = inplace_mode
    backup = @filename + suffix.encode(@filename.encoding) unless suffix.empty?
    backup ? File.rename(@filename, backup) : File.unlink(@filename)
    true
  rescue SystemCallError => error
    what = backup ? "rename #{@filename} to #{backup}" : "remove #{@filename}"
    warn("Can't #{what}: #{error.class.new.message}, skipping file", uplevel: 0)
    file.close
    false
  end

  def __finish_edit
    return unless @writer
    @writer.close
    @writer = nil
    $stdout = @stdout
  end

  # Ends the file being read.
  def __close
    @at = :next
    @file.close unless @file.equal?($stdin)
  end

  def __stream(message)
    __open or raise ArgumentError, message
    @file
  end

  # Yields what a method of each file yields, until the block leaves the file: by `skip`, `close`, or by reading on into the next one.
  def __each(method, *args, **options)
    while __open
      stream = @file
      left = false
      stream.__send__(method, *args, **options) do |element|
        yield element
        break left = true if @at == :next || !stream.equal?(@file)
      end
      next if left
      break if @at == :stdin
      @at = :next
    end
    self
  end

  def __one
    while __open
      found = yield
      return found if found || @at == :stdin
      __close
    end
    nil
  end

  def __partial(buffer, exception)
    unless __open
      buffer&.clear
      raise EOFError, "end of file reached"
    end
    part = begin
      yield
    rescue EOFError
      nil
    end
    return part if part
    last = @at == :stdin
    __close unless last
    if last || argv.empty?
      return nil unless exception
      raise EOFError, "end of file reached"
    end
    buffer || +""
  end

  # `gets` but for `$_`, which the caller sets.
  def __gets(...)
    while __open
      line = @file.gets(...)
      if line
        self.lineno = lineno + 1
        return line
      end
      return nil if @at == :stdin
      __close
    end
    nil
  end
end
Object.__send__(:remove_const, :ArgfClass)
