# zlib: what is made of native streams and checksums.
module Zlib
  VERSION = "3.2.2"
  ZLIB_VERSION = "1.3.1"
  BINARY, ASCII, TEXT, UNKNOWN = 0, 1, 1, 2
  NO_COMPRESSION, BEST_SPEED, BEST_COMPRESSION, DEFAULT_COMPRESSION = 0, 1, 9, -1
  DEFAULT_STRATEGY, FILTERED, HUFFMAN_ONLY, RLE, FIXED = 0, 1, 2, 3, 4
  MAX_WBITS, DEF_MEM_LEVEL, MAX_MEM_LEVEL = 15, 8, 9
  NO_FLUSH, PARTIAL_FLUSH, SYNC_FLUSH, FULL_FLUSH, FINISH = 0, 1, 2, 3, 4
  OS_MSDOS, OS_AMIGA, OS_VMS, OS_UNIX, OS_VMCMS, OS_ATARI, OS_OS2, OS_MACOS, OS_ZSYSTEM, OS_CPM, OS_TOPS20, OS_WIN32, OS_QDOS, OS_RISCOS, OS_UNKNOWN =
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 255
  OS_CODE = OS_UNIX

  class Error < StandardError; end
  class StreamEnd < Error; end
  class NeedDict < Error; end
  class DataError < Error; end
  class StreamError < Error; end
  class MemError < Error; end
  class BufError < Error; end
  class VersionError < Error; end
  class InProgressError < Error; end

  def self.zlib_version = ZLIB_VERSION
  def self.deflate(text, level = DEFAULT_COMPRESSION) = Deflate.deflate(text, level)
  def self.inflate(text) = Inflate.inflate(text)

  def self.gzip(text, level: nil, strategy: nil)
    out = "\x1F\x8B\x08\0\0\0\0\0".b << (level == 9 ? 2 : level == 1 ? 4 : 0) << OS_CODE
    out << Deflate.new(level, -MAX_WBITS).deflate(text, FINISH) << [crc32(text), text.bytesize & 0xffffffff].pack("VV")
  end

  def self.gunzip(text)
    reader = GzipReader.new(__io(text))
    out = reader.read
    reader.__send__(:__check_end)
    out.force_encoding(Encoding::BINARY)
  end

  # A String that is read as a stream is.
  private_class_method def self.__io(text)
    require "stringio"
    StringIO.new(text.b)
  end

  class ZStream
    def input = @input ||= +"".b
    private :input

    def avail_in = @input ? @input.bytesize : 0
    def avail_out = 0
    def avail_out=(_)
      nil
    end
    def data_type = BINARY
    def adler = @adler || 1

    def end
      raise Error, "stream is not ready" if @closed
      @closed = true
      nil
    end
    alias close end
    def closed? = !!@closed
    alias ended? closed?

    def finish = __take("", FINISH)

    def flush_next_in
      rest, @input = @input, nil
      rest || +""
    end

    def flush_next_out
      out, @out = @out, nil
      out || +""
    end

    private def __ready
      raise Error, "stream is not ready" if @closed
    end
  end

  class Deflate < ZStream
    def self.deflate(text, level = DEFAULT_COMPRESSION) = new(level).deflate(text, FINISH)

    def initialize(level = DEFAULT_COMPRESSION, wbits = MAX_WBITS, _memory = DEF_MEM_LEVEL, _strategy = DEFAULT_STRATEGY)
      @level = level || DEFAULT_COMPRESSION
      @wbits = wbits || MAX_WBITS
      raise StreamError, "stream error" unless (-1..9) === @level && (8..15) === (@wbits > 15 ? @wbits - 16 : @wbits.abs)
      __start
    end

    private def __start
      __deflate(@level, (8..15) === @wbits)
      # From 16 on the stream is a gzip file: its header stands before the first output, its trailer behind the last.
      @gzip = @wbits > 15
      @adler = @gzip ? 0 : 1
      @out = @gzip ? [0x1f, 0x8b, 8, 0, 0, @level == 9 ? 2 : @level == 1 ? 4 : 0, OS_CODE].pack("CCCCVCC") : nil
      @extra = 0
    end

    def total_out = super + @extra

    def reset
      __start
      nil
    end

    private def __take(text, flush)
      __ready
      out = @out || "".b
      @out = nil
      @adler = @gzip ? Zlib.crc32(text, @adler) : Zlib.adler32(text, @adler)
      ended = finished?
      out << __run(text, flush)[0]
      if @gzip && finished? && !ended
        out << [@adler, total_in & 0xffffffff].pack("VV")
        @extra = 18
      end
      out
    end

    def deflate(text, flush = NO_FLUSH)
      out = __take(text ? text.to_str : "", text ? flush : FINISH)
      return out unless block_given?
      yield out unless out.empty?
      nil
    end

    def <<(text)
      out = __take(text.to_str, NO_FLUSH)
      @out = out unless out.empty?
      self
    end

    def flush(flush = SYNC_FLUSH) = __take("", flush)

    def params(level, _strategy)
      @level = level
      (@out ||= "".b) << __run("", SYNC_FLUSH)[0]
      nil
    end

    def set_dictionary(_) = raise(NotImplementedError, "dictionaries are not supported")
  end

  class Inflate < ZStream
    def self.inflate(text)
      stream = new
      out = stream.inflate(text)
      stream.finish
      stream.close
      out
    end

    def initialize(wbits = MAX_WBITS)
      @wbits = wbits || MAX_WBITS
      raise StreamError, "stream error" unless @wbits == 0 || (8..15) === (@wbits < 0 ? -@wbits : @wbits > 31 ? @wbits - 32 : @wbits > 15 ? @wbits - 16 : @wbits)
      __start
    end

    private def __start
      # What comes next: nil, zlib's or bare data; :either, a header that tells which; :header, :data, :trailer and :done of a gzip file.
      @gzip = @wbits > 31 ? :either : @wbits > 15 ? :header : nil
      __inflate((0..15) === @wbits)
      @input = nil
      @adler = 1
      @extra = 0
    end

    def finished? = @gzip ? @gzip == :done : super
    alias stream_end? finished?

    def total_in = super + @extra

    def reset
      __start
      nil
    end

    private def __take(text, _flush)
      __ready
      # Behind the end of the stream everything passes through.
      return text.b if finished? && !text.empty?
      text = @input ? @input << text : text.b
      @input = nil
      out = @gzip && @gzip != :done ? __gunzip(text) : __plain(text)
      @input = text unless text.empty?
      out
    end

    # Inflates what `text` holds and takes it away there.
    private def __plain(text)
      out, used = __run(text, NO_FLUSH)
      @adler = @gzip ? Zlib.crc32(out, @adler) : Zlib.adler32(out, @adler)
      text.replace(text.byteslice(used..))
      out
    end

    private def __gunzip(text)
      out = "".b
      if @gzip == :either && text.bytesize > 1
        @gzip = text.start_with?("\x1F\x8B".b) ? :header : nil
        unless @gzip
          __inflate(true)
          return __plain(text)
        end
      end
      if @gzip == :header && (n = __header(text))
        @extra = n
        text.replace(text.byteslice(n..))
        @gzip = :data
        @adler = 0
        __inflate(false)
      end
      if @gzip == :data
        out = __plain(text)
        @gzip = :trailer if ZStream.instance_method(:finished?).bind_call(self)
      end
      if @gzip == :trailer && text.bytesize >= 8
        crc, size = text.unpack("VV")
        raise DataError, "incorrect data check" unless crc == @adler
        raise DataError, "incorrect length check" unless size == total_out & 0xffffffff
        text.replace(text.byteslice(8..))
        @extra += 8
        @gzip = :done
      end
      out
    end

    # Length of a gzip file's header; nil when more is to come.
    private def __header(text)
      raise DataError, "incorrect header check" unless "\x1F\x8B".b.start_with?(text.byteslice(0, 2))
      raise DataError, "unknown compression method" if text.bytesize > 2 && text.getbyte(2) != 8
      return if text.bytesize < 10
      flags, at = text.getbyte(3), 10
      raise DataError, "unknown header flags set" if flags & 0xe0 != 0
      if flags & 4 != 0
        return if text.bytesize < at + 2
        at += 2 + text.byteslice(at, 2).unpack1("v")
      end
      [8, 16].each do |named|
        next if flags & named == 0
        zero = text.byteindex("\0", at) if at <= text.bytesize
        return unless zero
        at = zero + 1
      end
      at += 2 if flags & 2 != 0
      at if at <= text.bytesize
    end

    def inflate(text, buffer: nil)
      out = text.nil? ? finish : __take(text.to_str, NO_FLUSH)
      if text.nil? || !block_given?
        return buffer ? buffer.replace(out) : out
      end
      yield out unless out.empty?
      nil
    end

    def <<(text)
      if text.nil?
        raise BufError, "buffer error" unless finished?
      else
        (@out ||= "".b) << __take(text.to_str, NO_FLUSH)
      end
      self
    end

    def finish
      out = (@out || "".b) << __take("", FINISH)
      @out = nil
      raise BufError, "buffer error" unless finished?
      out
    end

    def add_dictionary(_) = raise(NotImplementedError, "dictionaries are not supported")
    alias set_dictionary add_dictionary
    def sync(_) = false
    def sync_point? = false
  end

  # What a gzip file says about itself.
  class GzipFile
    class Error < Zlib::Error
      attr_reader :input
    end
    class NoFooter < Error; end
    class CRCError < Error; end
    class LengthError < Error; end

    def close
      io = finish
      io.close if io.respond_to?(:close)
      io
    end

    def self.wrap(*args, **options)
      file = new(*args, **options)
      return file unless block_given?
      begin
        yield file
      ensure
        file.close unless file.closed?
      end
    end

    %i[orig_name comment level].each do |name|
      define_method(name) do
        __open
        instance_variable_get(:"@#{name}")
      end
    end

    def mtime = Time.at(@mtime || 0)
    def os_code = OS_CODE
    def sync = false
    def sync=(flag)
      flag
    end
    def crc = @crc || 0
    def to_io = @io
    def closed? = @io.nil?

    private def __open
      raise Error, "closed gzip stream" unless @io
    end
  end

  class GzipWriter < GzipFile
    def self.open(path, level = nil, strategy = nil, &block) = wrap(File.open(path, "wb"), level, strategy, &block)

    def initialize(io, level = nil, _strategy = nil, external_encoding: nil, internal_encoding: nil, **)
      @io = io
      @level = level || DEFAULT_COMPRESSION
      @deflate = Deflate.new(@level, -MAX_WBITS)
      @crc = @size = 0
    end

    def mtime=(time)
      raise GzipFile::Error, "header is already written" if @started
      @mtime = time.to_i
    end

    def orig_name=(name)
      raise GzipFile::Error, "header is already written" if @started
      @orig_name = name.to_str.dup
    end

    def comment=(text)
      raise GzipFile::Error, "header is already written" if @started
      @comment = text.to_str.dup
    end

    # The header, once.
    private def __header
      return "".b if @started
      @started = true
      flags = (@orig_name ? 8 : 0) | (@comment ? 16 : 0)
      head = [0x1f, 0x8b, 8, flags, @mtime || Time.now.to_i, @level == 9 ? 2 : @level == 1 ? 4 : 0, OS_CODE].pack("CCCCVCC")
      head << @orig_name.b << "\0" if @orig_name
      head << @comment.b << "\0" if @comment
      head
    end

    def write(*items)
      __open
      out = __header
      items.sum do |item|
        text = item.to_s
        @crc = Zlib.crc32(text, @crc)
        @size += text.bytesize
        # All that is to be kept is kept before the IO may raise.
        out << @deflate.deflate(text)
        full, out = out, "".b
        @io.write(full) unless full.empty?
        text.bytesize
      end
    end

    def <<(item)
      write(item)
      self
    end

    def print(*items)
      items.each { |i| write(i) }
      nil
    end

    def puts(*items)
      items = [""] if items.empty?
      items.flatten.each { |i| write(i.to_s.end_with?("\n") ? i.to_s : "#{i}\n") }
      nil
    end

    def printf(...) = (write(format(...)); nil)

    def putc(c)
      write(c.is_a?(String) ? c[0] : (c & 255).chr)
      c
    end

    def flush(flush = SYNC_FLUSH)
      out = __header
      out << @deflate.flush(flush) unless flush == NO_FLUSH
      @io.write(out) unless out.empty?
      @io.flush if @io.respond_to?(:flush)
      self
    end

    def pos = @size
    alias tell pos

    def finish
      __open
      @io.write(__header << @deflate.finish << [@crc, @size & 0xffffffff].pack("VV")) # one argument: Rack's body takes no more
      io, @io = @io, nil
      io
    end
  end

  class GzipReader < GzipFile
    include Enumerable

    def self.open(path, **options, &block) = wrap(File.open(path, "rb"), **options, &block)

    def self.zcat(io, **options)
      out = +""
      loop do
        reader = new(io, **options)
        block_given? ? reader.each { |line| yield line } : out << reader.read
        unused = reader.unused
        reader.finish
        break if unused.nil? && io.eof?
        io.pos -= unused.bytesize if unused
        break if io.eof?
      end
      block_given? ? nil : out
    end

    attr_accessor :lineno

    def initialize(io, external_encoding: nil, internal_encoding: nil, **)
      @io = io
      @encoding = external_encoding ? Encoding.find(external_encoding.to_s) : Encoding.default_external
      @start = io.respond_to?(:pos) ? (io.pos rescue nil) : nil
      __begin
    end

    private def __begin
      @raw = "".b
      @buffer = "".b
      @crc = @size = @pos = @lineno = 0
      @done = false
      head = __need(10) or raise GzipFile::Error, "not in gzip format"
      id, method, flags, @mtime, extra, = head.unpack("nCCVCC")
      raise GzipFile::Error, "not in gzip format" unless id == 0x1f8b
      raise GzipFile::Error, "unsupported compression method" unless method == 8
      @level = extra == 2 ? BEST_COMPRESSION : extra == 4 ? BEST_SPEED : DEFAULT_COMPRESSION
      __need(__need(2).unpack1("v")) if flags & 4 != 0
      @orig_name = flags & 8 != 0 ? __text : ""
      @comment = flags & 16 != 0 ? __text : ""
      __need(2) if flags & 2 != 0
      @inflate = Inflate.new(-MAX_WBITS)
    end

    # Bytes of the raw stream; nil when there are not as many.
    private def __need(n)
      while @raw.bytesize < n
        more = @io.read(2048)
        return if more.nil? || more.empty?
        @raw << more
      end
      @raw.slice!(0, n)
    end

    private def __text
      out = "".b
      while (c = __need(1)) && c != "\0"
        out << c
      end
      out.force_encoding(Encoding::UTF_8)
    end

    # Inflates until the buffer holds n bytes (nil: to the end).
    private def __fill(n)
      __open
      until @done || n && @buffer.bytesize >= n
        if @raw.empty?
          more = @io.read(16384)
          raise GzipFile::Error, "unexpected end of file" if more.nil? || more.empty?
          @raw << more
        end
        out = @inflate.inflate(@raw)
        @raw = "".b
        @crc = Zlib.crc32(out, @crc)
        @size += out.bytesize
        @buffer << out
        if @inflate.finished?
          @raw = @inflate.flush_next_in.b
          @done = true
          __check_footer
        end
      end
    end

    private def __check_footer
      foot = __need(8) or raise GzipFile::NoFooter, "footer is not found"
      crc, size = foot.unpack("VV")
      raise GzipFile::CRCError, "invalid compressed data -- crc error" if crc != @crc
      raise GzipFile::LengthError, "invalid compressed data -- length error" if size != @size & 0xffffffff
    end

    private def __check_end = __fill(nil)

    private def __cut(n)
      out = @buffer.slice!(0, n)
      @pos += out.bytesize
      out
    end

    def read(n = nil, buffer = nil)
      raise ArgumentError, "negative length #{n} given" if n && n < 0
      if n.nil?
        __fill(nil)
        out = __cut(@buffer.bytesize).force_encoding(@encoding)
      else
        __fill(n)
        return n == 0 ? "" : nil if @buffer.empty?
        out = __cut(n)
      end
      buffer ? buffer.replace(out) : out
    end

    def readpartial(n, buffer = nil)
      __fill(1)
      raise EOFError, "end of file reached" if @buffer.empty?
      out = __cut(n)
      buffer ? buffer.replace(out) : out
    end

    def getbyte
      __fill(1)
      @buffer.empty? ? nil : __cut(1).ord
    end

    def readbyte = getbyte || raise(EOFError, "end of file reached")

    def getc
      __fill(8)
      return if @buffer.empty?
      c = @buffer.byteslice(0, 8).force_encoding(@encoding)[0]
      __cut(c.bytesize).force_encoding(@encoding)
    end

    def readchar = getc || raise(EOFError, "end of file reached")

    def each_byte
      return to_enum(:each_byte) unless block_given?
      while b = getbyte
        yield b
      end
      self
    end

    def each_char
      return to_enum(:each_char) unless block_given?
      while c = getc
        yield c
      end
      nil
    end

    def ungetc(c)
      c = c.chr(@encoding) if Integer === c
      ungetbyte(c)
    end

    def ungetbyte(b)
      return if b.nil?
      text = Integer === b ? (b & 255).chr : b
      @buffer.prepend(text.b)
      @pos -= text.bytesize
      nil
    end

    def gets(separator = $/, limit = nil, chomp: false)
      if separator.is_a?(Integer)
        limit = separator
        separator = $/
      end
      return "" if limit == 0
      raise ArgumentError, "negative length #{limit} given" if limit && limit < 0
      if separator.nil?
        line = limit ? read(limit) : read
        line = nil if line && line.empty?
        line&.force_encoding(@encoding)
        @lineno += 1 if line
        return $_ = line
      end
      if paragraph = separator.empty?
        separator = "\n\n"
        __fill(1)
        while @buffer.start_with?("\n")
          __cut(1)
          __fill(1)
        end
      end
      want = 1024
      until at = @buffer.index(separator.b)
        break if @done || limit && @buffer.bytesize >= limit
        want *= 2
        __fill(want)
      end
      return $_ = nil if @buffer.empty?
      n = at ? at + separator.bytesize : @buffer.bytesize
      n = limit if limit && n > limit
      line = __cut(n).force_encoding(@encoding)
      line << __cut(1).force_encoding(@encoding) until line.valid_encoding? || @buffer.empty? || line.bytesize > n + 3
      if paragraph
        __fill(1)
        while @buffer.start_with?("\n")
          __cut(1)
          __fill(1)
        end
      end
      @lineno += 1
      line = line.chomp(separator) if chomp
      $_ = line
    end

    def readline(...) = gets(...) || raise(EOFError, "end of file reached")

    def each_line(*args, **options)
      return to_enum(:each_line, *args, **options) unless block_given?
      while line = gets(*args, **options)
        yield line
      end
      self
    end
    alias each each_line

    def readlines(...) = each_line(...).to_a

    def eof?
      __fill(1)
      @buffer.empty?
    end
    alias eof eof?

    def pos = @pos
    alias tell pos
    def external_encoding = @encoding

    def rewind
      __open
      @io.seek(@start || 0)
      __begin
      0
    end

    def unused
      return unless @done
      @raw.empty? ? nil : @raw.dup
    end

    def finish
      __open
      io, @io = @io, nil
      io
    end
  end
end
