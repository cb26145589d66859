# zlib: gzip files, written and read over any IO.
module Zlib
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

    # Ends writing or reading, and answers the IO below it, which stays open.
    def finish
      __open
      __end
      __leave
    end

    private def __end = nil

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

    # :method: orig_name: The name of the file that was packed; nil if the header has none.
    # :method: comment: The comment of the header; nil if it has none.
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
    # What `sync=` was told, false at first.
    def sync = (__open; !!@sync)
    # Notes a flag: writing does not go by it, `flush` brings everything out.
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
    #     require "stringio"
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
      @orig_name = Zlib.__string(name).dup
    end

    # Sets the comment in the header; GzipFile::Error once the header is written.
    def comment=(text)
      raise GzipFile::Error, "header is already written" if @started
      @comment = Zlib.__string(text).dup
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

    # What ends the file.
    private def __end
      @io.write(__header << @deflate.finish << [@crc, @size & 0xffffffff].pack("VV")) # one argument: Rack's body takes no more
      @deflate.close
    end
  end

  class GzipReader < GzipFile
    include Enumerable

    # Reads the gzip file at a path; with a block it is closed when the block ends.
    def self.open(path, **options, &block) = wrap(File.open(path, "rb"), **options, &block)

    # The contents of all gzip files that follow each other in an IO; with a block their lines are yielded.
    def self.zcat(io, **options)
      out = +""
      while true
        reader = new(io, **options)
        block_given? ? reader.each { |line| yield line } : out << reader.read
        reader.read
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
      @buffer, @at = "".b, 0
      @crc = @size = @pos = @lineno = 0
      @done = @checked = false
      head = __need(10)
      id, method, flags, @mtime, extra, = head.unpack("nCCVCC") if head
      unless id == 0x1f8b
        error = GzipFile::Error.new("not in gzip format")
        rest = "#{head}#{@raw}".b
        error.instance_variable_set(:@input, rest.empty? ? nil : rest)
        raise error
      end
      raise GzipFile::Error, "unsupported compression method #{method}" unless method == 8
      raise GzipFile::Error, "multi-part gzip file is not supported" if flags & 2 != 0
      raise GzipFile::Error, "encrypted gzip file is not supported" if flags & 32 != 0
      raise GzipFile::Error, "unknown flags 0x%02x" % flags if flags & 192 != 0
      @level = extra == 2 ? BEST_COMPRESSION : extra == 4 ? BEST_SPEED : DEFAULT_COMPRESSION
      __need(__need(2).unpack1("v")) if flags & 4 != 0
      @orig_name = flags & 8 != 0 ? __text : nil
      @comment = flags & 16 != 0 ? __text : nil
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

    # Bytes of the buffer that are not read yet: those from `@at` on.
    private def __left = @buffer.bytesize - @at

    # Inflates until the buffer holds n bytes (nil: to the end). Whoever reads behind the last byte has the footer checked.
    private def __fill(n, check = true)
      __open
      until @done || n && __left >= n
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
          @inflate.close
        end
      end
      __check_footer if check
    end

    private def __check_footer
      return if @checked || !@done || __left > 0
      @checked = true
      unless (foot = __need(8))
        raise GzipFile::Error, "unexpected end of string" if @whole && !@raw.empty?
        raise GzipFile::NoFooter, "footer is not found"
      end
      crc, size = foot.unpack("VV")
      raise GzipFile::CRCError, "invalid compressed data -- crc error" if crc != @crc
      raise GzipFile::LengthError, "invalid compressed data -- length error" if size != @size & 0xffffffff
    end

    private def __end = __check_footer

    # Reads all, and asks for the footer, whatever was read before.
    private def __check_end
      __fill(nil, false)
      __cut(__left)
      __check_footer
    end

    private def __cut(n)
      out = @buffer.byteslice(@at, n)
      @pos += out.bytesize
      @at += out.bytesize
      # What was read goes when it is half of the buffer: each time would cost the square of what one part of the file holds.
      if @at > 65_536 && @at > __left
        @buffer = @buffer.byteslice(@at, __left)
        @at = 0
      end
      out
    end

    # The rest of the content, or at most `n` bytes, nil at the end; GzipFile::Error if the file is broken or cut off.
    def read(n = nil, buffer = nil)
      raise ArgumentError, "negative length #{n} given" if n && n < 0
      if n.nil?
        __fill(nil)
        out = __cut(__left).force_encoding(@encoding)
      else
        __fill(n, n > 0)
        if __left == 0 && n > 0
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
      raise EOFError, "end of file reached" if __left == 0
      out = __cut(n)
      buffer ? buffer.replace(out) : out
    end

    # The next byte, or nil at the end.
    def getbyte
      __fill(1)
      __left == 0 ? nil : __cut(1).ord
    end

    # The next byte; EOFError at the end.
    def readbyte = getbyte || raise(EOFError, "end of file reached")

    # The next character, or nil at the end.
    def getc
      __fill(8)
      return if __left == 0
      c = @buffer.byteslice(@at, 8).force_encoding(@encoding)[0]
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
      @buffer = text.b << @buffer.byteslice(@at, __left)
      @at = 0
      @pos -= text.bytesize
      nil
    end

    # So many bytes, and what the last character has behind them.
    private def __line(n)
      line = __cut(n).force_encoding(@encoding)
      line << __cut(1).force_encoding(@encoding) until line.valid_encoding? || __left == 0 || line.bytesize > n + 3
      line
    end

    private def __skip_newlines
      __fill(1, false)
      while @buffer.getbyte(@at) == 10
        __cut(1)
        __fill(1, false)
      end
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
        return $_ = nil if __left == 0
        @lineno += 1
        return $_ = __line(limit || __left)
      end
      if paragraph = separator.empty?
        separator = "\n\n"
        __skip_newlines
      end
      want = 1024
      until at = @buffer.byteindex(separator.b, @at)
        break if @done || limit && __left >= limit + 8
        want *= 2
        __fill(want)
      end
      __check_footer
      return $_ = nil if __left == 0
      n = at ? at + separator.bytesize - @at : __left
      n = limit if limit && n > limit
      line = __line(n)
      __skip_newlines if paragraph
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
      __fill(1, false)
      __left == 0
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
      return unless @done && __left == 0
      __check_footer
      @raw.empty? ? nil : @raw.dup
    end
  end
end
