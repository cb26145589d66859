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

  # The String that an argument is.
  def self.__string(text) = String.try_convert(text) || "" + text

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

  # The text as a gzip file of now, without a name.
  #
  #     Zlib.gunzip(Zlib.gzip("abc"))   #=> "abc"
  def self.gzip(text, level: nil, strategy: nil)
    __gzipped(text, level, strategy)
  end

  # The content of a gzip file, a binary String; GzipFile::Error if it is broken.
  def self.gunzip(text)
    out = __gunzipped(text)
    return out if out
    # What is wrong is for the reader to say.
    raise GzipFile::Error, "unexpected end of string" if text.to_str.bytesize < 10
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
      __end
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
      while true
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
      return Zlib.__deflated(text, level) unless block
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
      text.nil? ? __run("", FINISH, &block) : __put(Zlib.__string(text), flush, &block)
      __detach(&block)
    end

    # Compresses more text, whose output waits; nil ends the stream.
    def <<(text)
      text.nil? ? __run("", FINISH) : __put(Zlib.__string(text), NO_FLUSH)
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
      out = Zlib.__inflated(text)
      return out if out
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
          text.nil? ? __detach(&block) : __behind(Zlib.__string(text))
        else
          text.nil? ? __run("", FINISH, &block) : __put(Zlib.__string(text), &block)
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
        __behind(Zlib.__string(text)) unless text.nil?
      elsif text.nil? then __run("", FINISH)
      else
        __put(Zlib.__string(text))
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
end
