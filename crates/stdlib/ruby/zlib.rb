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

  # The version of zlib that the formats follow.
  def self.zlib_version = ZLIB_VERSION

  # Sum of what a stream holds.
  private_class_method def self.__sum_of(name, io, sum)
    while (part = io.read(65_536)) && !part.empty?
      sum = __send__(name, part, sum)
    end
    sum
  end
  # The text compressed, as a zlib stream; `level` from 0 (not at all) to 9 (best).
  #
  #     Zlib.inflate(Zlib.deflate("abc" * 100)).size   #=> 300
  def self.deflate(text, level = DEFAULT_COMPRESSION, &block) = Deflate.deflate(text, level, &block)
  # The text that a zlib stream holds; DataError or BufError if it is broken or cut off.
  def self.inflate(text) = Inflate.inflate(text)

  # The text as a gzip file, without name and time.
  #
  #     Zlib.gunzip(Zlib.gzip("abc"))   #=> "abc"
  def self.gzip(text, level: nil, strategy: nil)
    out = "\x1F\x8B\x08\0\0\0\0\0".b << (level == 9 ? 2 : level == 1 ? 4 : 0) << OS_CODE
    out << Deflate.new(level, -MAX_WBITS, DEF_MEM_LEVEL, strategy).deflate(text, FINISH) << [crc32(text), text.bytesize & 0xffffffff].pack("VV")
  end

  # The content of a gzip file, a binary String; GzipFile::Error if it is broken.
  def self.gunzip(text)
    reader = GzipReader.new(__io(text))
    reader.instance_variable_set(:@whole, true)
    out = reader.read
    reader.__send__(:__check_end)
    out.force_encoding(Encoding::BINARY)
  end

  # A String that is read as a stream is.
  private_class_method def self.__io(text)
    require "stringio"
    StringIO.new(text.b)
  end

  # Input that was not used and output that was not taken wait here. One thread at a time works on a stream.
  class ZStream
    # What a block gets at a time.
    CHUNK = 16_384
    # Room of a call without a block.
    UNBOUNDED = 1 << 62
    private_constant :CHUNK, :UNBOUNDED

    private def __begin
      @lock = Thread::Mutex.new
      @input = @out = @closed = nil
    end

    def initialize_copy(other)
      raise Error, "stream is not ready" unless other.__send__(:__open?)
      __begin
      __copy(other)
      @input = other.instance_variable_get(:@input)&.dup
      @out = other.instance_variable_get(:@out)&.dup
      self
    end

    private def __open? = !!@lock && !@closed
    private def __ready = __open? || raise(Error, "stream is not ready")

    # Bytes of input that wait.
    def avail_in = @input ? @input.bytesize : 0
    # The number that `avail_out=` was given, else 0.
    def avail_out = (__ready; @room || 0)
    # Room is made as it is needed: the number is kept, and changes nothing.
    def avail_out=(n)
      __ready
      @room = Integer(n)
    end
    # What the data seems to be: Zlib::BINARY, TEXT or UNKNOWN.
    def data_type = (__ready; __get(:type))
    # The Adler-32 checksum of the data so far.
    def adler = (__ready; __get(:adler))
    # Bytes that went in.
    def total_in = (__ready; __get(:in))
    # Bytes that came out.
    def total_out = (__ready; __get(:out))
    # Whether the stream has ended.
    def finished? = (__ready; __get(:finished))
    alias stream_end? finished?

    # Closes the stream, whose data is dropped.
    def end
      __ready
      @closed = true
      @input = @out = nil
    end
    alias close end
    # Whether the stream is closed.
    def closed? = !__open?
    alias ended? closed?

    # Begins anew, with the same settings.
    def reset
      __ready
      __reset
      @input = @out = nil
    end

    # Ends the stream, and answers the rest of its output; with a block it is yielded in pieces.
    def finish(&block)
      __run("", FINISH, &block)
      __detach(&block)
    end

    # Takes the input that waits.
    def flush_next_in
      rest, @input = @input, nil
      rest || "".b
    end

    # Takes the output that waits.
    def flush_next_out(&block) = __detach(&block)

    # Output until here. With a block it gets the last piece of a stream that has ended; others wait until they are whole.
    private def __detach
      return __yield_rest { |out| yield out } if block_given?
      out, @out = @out, nil
      out || "".b
    end
    private def __yield_rest
      return unless finished?
      out, @out = @out, nil
      yield out if out && !out.empty?
      nil
    end

    # Works on what is left and on `text`.
    private def __run(text, flush, &block)
      __ready
      @lock.synchronize { __work(text, flush, &block) }
    end

    private def __work(text, flush)
      data = @input ? @input << text : text.b
      loop do
        room = block_given? ? CHUNK - (@out ? @out.bytesize : 0) : UNBOUNDED
        out, used, code = __step(data, flush, room > 0 ? room : 1)
        @out ? @out << out : @out = out
        data = data.byteslice(used..)
        @input = data.empty? ? nil : data
        case code
        when String then raise DataError, code
        when 2
          raise NeedDict, "need dictionary" unless (dictionary = @dictionaries&.[](__get(:adler)))
          __dictionary(dictionary)
          next
        when -5 then raise BufError, "buffer error" if flush == FINISH
        end
        return unless block_given? && @out.bytesize >= CHUNK
        chunk, @out = @out, nil
        yield chunk
      end
    end
  end

  class Deflate < ZStream
    # The text compressed, as a zlib stream; with a block it is yielded in pieces.
    def self.deflate(text, level = DEFAULT_COMPRESSION, &block)
      stream = new(level)
      out = stream.deflate(text, FINISH, &block)
      stream.close
      out
    end

    # A stream that compresses: level 0 to 9, size of the window as power of two (negative: without zlib's header; above 16: gzip's), memory, strategy.
    def initialize(level = nil, wbits = nil, memory = nil, strategy = nil)
      __deflate(level || DEFAULT_COMPRESSION, wbits || MAX_WBITS, memory || DEF_MEM_LEVEL, strategy || DEFAULT_STRATEGY)
      __begin
    end

    # Compresses more text, and answers what is ready; nil ends the stream. With a block output is yielded in pieces.
    def deflate(text, flush = NO_FLUSH, &block)
      text.nil? ? __run("", FINISH, &block) : __put(text.to_str, flush, &block)
      __detach(&block)
    end

    # Compresses more text, whose output waits; nil ends the stream.
    def <<(text)
      text.nil? ? __run("", FINISH) : __put(text.to_str, NO_FLUSH)
      self
    end

    private def __put(text, flush, &block)
      __ready
      __run(text, flush, &block) unless text.empty? && flush == NO_FLUSH && !@input
    end

    # Brings all output out that the input so far makes.
    #
    #     z = Zlib::Deflate.new
    #     z << "abc"
    #     Zlib::Inflate.new.inflate(z.flush)   #=> "abc"
    def flush(flush = SYNC_FLUSH, &block)
      __run("", flush, &block) unless flush == NO_FLUSH
      __detach(&block)
    end

    # Sets level and strategy for what follows.
    def params(level, strategy)
      __ready
      @lock.synchronize do
        # What came in before is packed as it was asked for.
        __work("", SYNC_FLUSH) if __get(:used) || @input
        out = __params(level, strategy)
        @out ? @out << out : @out = out
      end
      nil
    end

    # Sets text that the data has in common with the dictionary; who inflates needs it, too.
    def set_dictionary(dictionary)
      __ready
      __dictionary(dictionary)
      dictionary
    end
  end

  class Inflate < ZStream
    # The text that a zlib stream holds; DataError or BufError if it is broken or cut off.
    def self.inflate(text)
      stream = new
      out = stream.inflate(text)
      stream.finish unless stream.finished?
      stream.close
      out
    end

    # A stream that decompresses: size of the window as power of two (negative: without zlib's header; plus 16: gzip's, plus 32: either).
    def initialize(wbits = MAX_WBITS)
      __inflate(wbits || MAX_WBITS)
      __begin
    end

    def initialize_copy(other)
      super
      @dictionaries = other.instance_variable_get(:@dictionaries)&.dup
    end

    # Decompresses more of a stream, and answers the text so far; nil says that no more comes. `buffer` is overwritten with it.
    def inflate(text, buffer: nil, &block)
      __ready
      block = ->(chunk) { yield buffer.replace(chunk) } if buffer && block
      out =
        if finished?
          text.nil? ? __detach(&block) : __behind(text.to_str)
        else
          text.nil? ? __run("", FINISH, &block) : __put(text.to_str, &block)
          __detach(&block).tap { __behind(@input || "") if finished? }
        end
      buffer && !block ? buffer.replace(out) : out
    end

    # What follows the end of the stream passes through, to whoever asks next.
    private def __behind(text)
      (@out ||= "".b) << text
      @input = nil
      "".b
    end

    private def __put(text, &block)
      __run(text, SYNC_FLUSH, &block) unless text.empty? && !@input
    end

    # For readers: [what `text` holds, what is behind the end of the stream]
    private def __part(text)
      __run(text, SYNC_FLUSH)
      [__detach, flush_next_in]
    end

    # Decompresses more of a stream, whose text waits; nil says that no more comes.
    def <<(text)
      __ready
      if finished?
        __behind(text.to_str) unless text.nil?
      elsif text.nil? then __run("", FINISH)
      else
        __put(text.to_str)
        __behind(@input) if finished? && @input
      end
      self
    end

    # Ends the stream, and answers the rest of its text; BufError if it was cut off.
    def finish(&block)
      return super unless __open? && finished?
      __detach(&block)
    end

    # One that is taken when a stream asks for it.
    def add_dictionary(dictionary)
      (@dictionaries ||= {})[Zlib.adler32(dictionary)] = dictionary.b
      nil
    end

    # Sets the dictionary that the stream asks for; NeedDict is raised where it does.
    def set_dictionary(dictionary)
      __ready
      __dictionary(dictionary)
      dictionary
    end

    # Skips input up to the next point where a stream that was flushed can be read from; false if there is none yet.
    def sync(text)
      __ready
      data = (@input || "".b) << text
      used, found = __sync(data)
      rest = data.byteslice(used..)
      @input = rest.empty? ? nil : rest
      found
    end

    # Whether the stream stands at such a point.
    def sync_point? = (__ready; __get(:sync_point))
  end

  # What a gzip file says about itself.
  class GzipFile
    class Error < Zlib::Error
      # `input`: What was read and is no gzip file, or nil.
      attr_reader :input
    end
    class NoFooter < Error; end
    class CRCError < Error; end
    class LengthError < Error; end

    # Ends the file, and closes the IO below it; nil if it is closed.
    def close
      return if closed?
      io = finish
      io.close if io.respond_to?(:close)
      io
    end

    # Of files that have one; known when they are closed, too.
    module Named
      attr_reader :path
    end
    private_constant :Named

    private def __take(io)
      @io, @closed = io, false
      return unless io.respond_to?(:path)
      path = begin
        io.path
      rescue IOError
        nil
      end
      extend Named
      @path = path
    end

    # An object over an IO; with a block it is yielded, and closed when the block ends.
    def self.wrap(*args, **options)
      file = new(*args, **options)
      return file unless block_given?
      begin
        yield file
      ensure
        file.close unless file.closed?
      end
    end

    # :method: orig_name: The name of the file that was packed; "" if the header has none.
    # :method: comment: The comment of the header; "" if it has none.
    # :method: level: The level of compression, 0 to 9, or -1 for the default.
    %i[orig_name comment level].each do |name|
      define_method(name) do
        __open
        instance_variable_get(:"@#{name}")
      end
    end

    # The Time in the header: of the file that was packed.
    def mtime = Time.at(@mtime || 0)
    # The number of the system that packed.
    def os_code = OS_CODE
    # Whether the IO is flushed after each write.
    def sync = (__open; !!@sync)
    # Sets whether the IO is flushed after each write.
    def sync=(flag)
      __open
      @sync = flag
    end
    # The CRC-32 checksum of the content so far.
    def crc = @crc || 0
    # The IO below it.
    def to_io = @io
    # Whether it is closed.
    def closed? = @closed != false

    private def __open
      raise Error, "closed gzip stream" if @closed != false
    end

    private def __leave
      io, @io, @closed = @io, nil, true
      io
    end
  end

  class GzipWriter < GzipFile
    # Writes a gzip file at a path; with a block it is closed when the block ends.
    def self.open(path, level = nil, strategy = nil, &block) = wrap(File.open(path, "wb"), level, strategy, &block)

    # Writes a gzip file to anything that has `write`.
    #
    #     out = StringIO.new
    #     Zlib::GzipWriter.wrap(out) { |gz| gz.puts "hi"; gz.finish }
    #     Zlib.gunzip(out.string)   #=> "hi\n"
    def initialize(io, level = nil, strategy = nil, external_encoding: nil, internal_encoding: nil, **)
      __take(io)
      @level = level || DEFAULT_COMPRESSION
      @deflate = Deflate.new(@level, -MAX_WBITS, DEF_MEM_LEVEL, strategy)
      @crc = @size = 0
    end

    # Sets the header's time, in seconds since 1970; GzipFile::Error once the header is written.
    def mtime=(time)
      raise GzipFile::Error, "header is already written" if @started
      @mtime = time.to_i
    end

    # Sets the name of the packed file in the header; GzipFile::Error once the header is written.
    def orig_name=(name)
      raise GzipFile::Error, "header is already written" if @started
      @orig_name = name.to_str.dup
    end

    # Sets the comment in the header; GzipFile::Error once the header is written.
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

    # Writes objects as texts, and answers the number of their bytes.
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

    # Writes one object, and answers the writer.
    def <<(item)
      write(item)
      self
    end

    # Writes objects; answers nil.
    def print(*items)
      items.each { |i| write(i) }
      nil
    end

    # Writes each object as a line; answers nil.
    def puts(*items)
      items = [""] if items.empty?
      items.flatten.each { |i| write(i.to_s.end_with?("\n") ? i.to_s : "#{i}\n") }
      nil
    end

    # Writes what `format` makes of the arguments.
    def printf(...) = (write(format(...)); nil)

    # Writes a character, or the byte of an Integer, and answers it.
    def putc(c)
      write(c.is_a?(String) ? c[0] : (c & 255).chr)
      c
    end

    # Brings everything out that was written so far, and flushes the IO.
    def flush(flush = SYNC_FLUSH)
      out = __header
      out << @deflate.flush(flush) unless flush == NO_FLUSH
      @io.write(out) unless out.empty?
      @io.flush if @io.respond_to?(:flush)
      self
    end

    # Bytes written, before compression.
    def pos = @size
    alias tell pos

    # Ends the file, and answers the IO below it, which stays open.
    def finish
      __open
      @io.write(__header << @deflate.finish << [@crc, @size & 0xffffffff].pack("VV")) # one argument: Rack's body takes no more
      __leave
    end
  end

  class GzipReader < GzipFile
    include Enumerable

    # Reads the gzip file at a path; with a block it is closed when the block ends.
    def self.open(path, **options, &block) = wrap(File.open(path, "rb"), **options, &block)

    # The contents of all gzip files that follow each other in an IO; with a block their lines are yielded.
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

    # The number of lines that were read.
    attr_accessor :lineno

    # Reads a gzip file from anything that has `read`; GzipFile::Error if there is none.
    def initialize(io, external_encoding: nil, internal_encoding: nil, **)
      __take(io)
      @encoding = external_encoding ? Encoding.find(external_encoding.to_s) : Encoding.default_external
      @start = io.respond_to?(:pos) ? (io.pos rescue nil) : nil
      __begin
    end

    private def __begin
      @raw = "".b
      @buffer = "".b
      @crc = @size = @pos = @lineno = 0
      @done = false
      head = __need(10)
      id, method, flags, @mtime, extra, = head.unpack("nCCVCC") if head
      unless id == 0x1f8b
        error = GzipFile::Error.new("not in gzip format")
        rest = "#{head}#{@raw}".b
        error.instance_variable_set(:@input, rest.empty? ? nil : rest)
        raise error
      end
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
        out, @raw = @inflate.__send__(:__part, @raw)
        @crc = Zlib.crc32(out, @crc)
        @size += out.bytesize
        @buffer << out
        if @inflate.finished?
          @done = true
          __check_footer
        end
      end
    end

    private def __check_footer
      foot = __need(8) or raise @whole && !@raw.empty? ? GzipFile::Error : GzipFile::NoFooter, "footer is not found"
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

    # The rest of the content, or at most `n` bytes, nil at the end; GzipFile::Error if the file is broken or cut off.
    def read(n = nil, buffer = nil)
      raise ArgumentError, "negative length #{n} given" if n && n < 0
      if n.nil?
        __fill(nil)
        out = __cut(@buffer.bytesize).force_encoding(@encoding)
      else
        __fill(n)
        if @buffer.empty? && n > 0
          buffer&.replace("")
          return
        end
        out = __cut(n)
      end
      buffer ? buffer.replace(out) : out
    end

    # At most `n` bytes; EOFError at the end.
    def readpartial(n, buffer = nil)
      raise ArgumentError, "negative length #{n} given" if n < 0
      __fill(1)
      raise EOFError, "end of file reached" if @buffer.empty?
      out = __cut(n)
      buffer ? buffer.replace(out) : out
    end

    # The next byte, or nil at the end.
    def getbyte
      __fill(1)
      @buffer.empty? ? nil : __cut(1).ord
    end

    # The next byte; EOFError at the end.
    def readbyte = getbyte || raise(EOFError, "end of file reached")

    # The next character, or nil at the end.
    def getc
      __fill(8)
      return if @buffer.empty?
      c = @buffer.byteslice(0, 8).force_encoding(@encoding)[0]
      __cut(c.bytesize).force_encoding(@encoding)
    end

    # The next character; EOFError at the end.
    def readchar = getc || raise(EOFError, "end of file reached")

    # Yields each byte; without a block an Enumerator.
    def each_byte
      return to_enum(:each_byte) unless block_given?
      while b = getbyte
        yield b
      end
      self
    end

    # Yields each character; without a block an Enumerator.
    def each_char
      return to_enum(:each_char) unless block_given?
      while c = getc
        yield c
      end
      nil
    end

    # Puts a character back, which is read next.
    def ungetc(c)
      c = c.chr(@encoding) if Integer === c
      ungetbyte(c)
    end

    # Puts bytes back, which are read next.
    def ungetbyte(b)
      return if b.nil?
      text = Integer === b ? (b & 255).chr : b
      @buffer.prepend(text.b)
      @pos -= text.bytesize
      nil
    end

    # So many bytes, and what the last character has behind them.
    private def __line(n)
      line = __cut(n).force_encoding(@encoding)
      line << __cut(1).force_encoding(@encoding) until line.valid_encoding? || @buffer.empty? || line.bytesize > n + 3
      line
    end

    # The next line with its separator, of at most `limit` bytes; nil at the end. An empty separator reads paragraphs, nil all of the rest.
    def gets(separator = $/, limit = nil, chomp: false)
      if separator.is_a?(Integer)
        limit = separator
        separator = $/
      end
      return "" if limit == 0
      raise ArgumentError, "negative length #{limit} given" if limit && limit < 0
      if separator.nil?
        __fill(limit && limit + 8)
        return $_ = nil if @buffer.empty?
        @lineno += 1
        return $_ = __line(limit || @buffer.bytesize)
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
        break if @done || limit && @buffer.bytesize >= limit + 8
        want *= 2
        __fill(want)
      end
      return $_ = nil if @buffer.empty?
      n = at ? at + separator.bytesize : @buffer.bytesize
      n = limit if limit && n > limit
      line = __line(n)
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

    # The next line, as `gets` reads it; EOFError at the end.
    def readline(...) = gets(...) || raise(EOFError, "end of file reached")

    # Yields each line, as `gets` reads it; without a block an Enumerator.
    def each_line(*args, **options)
      return to_enum(:each_line, *args, **options) unless block_given?
      while line = gets(*args, **options)
        yield line
      end
      self
    end
    alias each each_line

    # An Array of the lines, as `gets` reads them.
    def readlines(...) = each_line(...).to_a

    # Whether nothing is left to read.
    def eof?
      __fill(1)
      @buffer.empty?
    end
    alias eof eof?

    # Bytes of the content that were read.
    def pos = @pos
    alias tell pos
    # The encoding that texts get.
    def external_encoding = @encoding

    # Begins at the start again, for which the IO has to `seek`.
    def rewind
      __open
      @io.seek(@start || 0)
      __begin
      0
    end

    # What was read from the IO behind the end of the file; nil if nothing was.
    def unused
      return unless @done
      @raw.empty? ? nil : @raw.dup
    end

    # Ends reading, and answers the IO below it, which stays open.
    def finish
      __open
      __leave
    end
  end
end
