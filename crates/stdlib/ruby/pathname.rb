# pathname: file names as objects. All of it: the library's own file wants half of it from an extension.
class Pathname
  TO_PATH = :to_path
  SEPARATOR_LIST = "/"
  SEPARATOR_PAT = /\//
  ABSOLUTE_PATH = /\A\//
  VERSION = "0.4.0"
  SAME_PATHS = ->(a, b) { a == b }
  private_constant :SAME_PATHS

  class << self
    # The files that fit a pattern of `Dir.glob`, as Pathnames; with a block each is yielded.
    def glob(*args, **options)
      names = Dir.glob(*args, **options).map { |f| new(f) }
      return names unless block_given?
      names.each { |f| yield f }
      nil
    end

    # A new directory for its maker alone, a Pathname; with a block it is removed when that ends.
    def mktmpdir
      require "tmpdir"
      return new(Dir.mktmpdir) unless block_given?
      Dir.mktmpdir { |dir| yield new(dir) }
    end

    # The working directory.
    def getwd = new(Dir.getwd)
    alias pwd getwd
  end

  undef =~ if Kernel.method_defined?(:=~)

  # A path of a String or of what has `to_path`; ArgumentError if it holds NUL.
  #
  #     Pathname.new("/usr") / "lib"   #=> #<Pathname:/usr/lib>
  def initialize(path)
    path = path.to_path if path.respond_to?(:to_path) && !(String === path)
    text = String.try_convert(path)
    raise TypeError, "Pathname.new requires a String, #to_path or #to_str" unless text
    raise ArgumentError, "pathname contains null byte" if text.include?("\0")
    @path = text.dup
  end

  def initialize_copy(other) = @path = other.to_s

  # The path as a new String.
  def to_s = @path.dup
  alias to_path to_s
  # The class and the path.
  def inspect = "#<#{self.class}:#{@path}>"
  # The same for equal paths.
  def hash = @path.hash

  # Forbids changes.
  def freeze
    @path.freeze
    super
  end

  # Whether both are paths of the same text.
  def ==(other) = Pathname === other && @path == other.to_s
  alias === ==
  alias eql? ==

  # Compares paths name by name: -1, 0, 1; nil for other objects.
  def <=>(other)
    return unless Pathname === other
    @path.tr("/", "\0") <=> other.to_s.tr("/", "\0")
  end

  # The path with its first match replaced, as `String#sub` does.
  def sub(*args, &block) = self.class.new(block ? @path.sub(*args, &block) : @path.sub(*args))

  # The path with another extension.
  #
  #     Pathname.new("a/b.rb").sub_ext(".txt")   #=> #<Pathname:a/b.txt>
  def sub_ext(ext)
    current = File.extname(@path)
    self.class.new(@path.delete_suffix("/").delete_suffix(current) + ext)
  end

  # Whether it begins with `/`.
  def absolute? = @path.start_with?("/")
  # Whether it does not begin with `/`.
  def relative? = !absolute?
  # Whether it is `/`.
  def root?
    path = @path
    return false unless path.getbyte(0) == 47
    second = path.getbyte(1)
    !second || second == 47 && !path.match?(/[^\/]/)
  end
  # Whether another file system is mounted there; false if there is no such directory.
  def mountpoint?
    one, two = lstat, parent.lstat
    one.dev != two.dev || one.ino == two.ino
  rescue Errno::ENOENT
    false
  end

  # What CRuby's file has of helpers, which programs reach by `send`.
  private def has_trailing_separator?(path) = path.match?(/[^\/]\/+\z/)
  private def add_trailing_separator(path) = path.end_with?("/") ? path : "#{path}/"
  private def del_trailing_separator(path) = path.sub(/(?<=[^\/])\/+\z/, "").sub(/\A\/+\z/, "/")

  # The parts of a path, without empty ones.
  private def __parts(path) = path.split("/").reject(&:empty?)

  # Yields each name of the path; without a block an Enumerator.
  def each_filename(&block)
    return to_enum(:each_filename) unless block
    __parts(@path).each(&block)
    nil
  end

  # The path without `.`, `..` and double slashes, by its text alone; with true `..` stays where the name before it may be a symbolic link.
  #
  #     Pathname.new("a//b/../c/.").cleanpath   #=> #<Pathname:a/c>
  def cleanpath(consider_symlink = false)
    parts = []
    names = __parts(@path)
    names.each do |name|
      case name
      when "." then nil
      when ".."
        if parts.empty? ? absolute? : false
          nil
        elsif parts.empty? || parts.last == ".." || consider_symlink
          parts << ".."
        else
          parts.pop
        end
      else parts << name
      end
    end
    text = (absolute? ? "/" : "") + parts.join("/")
    text = "." if text.empty?
    text += names.last == "." && text != "." && text != "/" && parts.last != ".." ? "/." : (@path.end_with?("/") && text != "/" && parts.last != ".." ? "/" : "") if consider_symlink && text != "."
    self.class.new(text)
  end

  # The path of a name below this one; `..` goes up, an absolute path is the answer itself.
  def +(other)
    other = Pathname.new(other) unless Pathname === other
    self.class.new(__plus(@path, other.to_s))
  end
  alias / +

  private def __plus(left, right)
    return right if right.start_with?("/")
    rest = right
    base = left
    while true
      if rest == "." || rest.start_with?("./")
        rest = rest.sub(/\A\.\/*/, "")
      elsif rest == ".." || rest.start_with?("../")
        break if base == "." ? false : base.match?(/(?:\A|\/)\.\.\/*\z/)
        break if base == "." || base.empty?
        if base.match?(/\A\/+\z/) then nil
        else
          dir = base.sub(/\/*[^\/]+\/*\z/, base.match?(/\A\/+[^\/]+\/*\z/) ? "/" : "")
          dir = dir.sub(/(?:(?<=[^\/])\/)?\.\z/, "") if dir.end_with?("/.") && dir.size > 2
          base = dir.empty? ? "." : dir
        end
        rest = rest.sub(/\A\.\.\/*/, "")
      else
        break
      end
    end
    return base if rest.empty?
    return rest if base == "." || base.empty?
    base.end_with?("/") ? base + rest : "#{base}/#{rest}"
  end

  # The paths joined one after another; an absolute one drops those before it.
  def join(*others)
    return self if others.empty?
    result = Pathname.new(others.pop)
    return self.class.new(result.to_s) if result.absolute?
    others.reverse_each do |other|
      result = Pathname.new(other) + result
      return self.class.new(result.to_s) if result.absolute?
    end
    self + result
  end

  # The directory that it is in.
  def parent = self + ".."

  # The files in the directory, without `.` and `..`; with false by their names alone.
  def children(with_directory = true)
    with_directory = false if @path == "."
    Dir.children(@path).map { |name| self.class.new(with_directory ? File.join(@path, name) : name) }
  end

  # Yields each file in the directory; without a block an Enumerator.
  def each_child(with_directory = true, &block) = children(with_directory).each(&block)

  # Yields the name of each entry, also `.` and `..`; without a block an Enumerator.
  def each_entry(&block)
    return to_enum(:each_entry) unless block
    Dir.foreach(@path) { |name| yield self.class.new(name) }
  end

  # The names of all entries, also `.` and `..`.
  def entries = Dir.entries(@path).map { |name| self.class.new(name) }

  # Yields the path and all above it, from the root; without a block an Enumerator.
  def descend
    return to_enum(:descend) unless block_given?
    ascend.to_a.reverse_each { |path| yield path }
    nil
  end

  # Yields the path and each one above it; without a block an Enumerator.
  def ascend
    return to_enum(:ascend) unless block_given?
    path = @path
    yield self
    while path = path[/\A(.*[^\/])\/+[^\/]+\/*\z/, 1] || (path.match?(/\A\/+[^\/]+/) ? "/" : nil)
      yield self.class.new(path)
      break if path == "/"
    end
    nil
  end

  # The way from `base` to here; ArgumentError if one of both is absolute and the other not.
  #
  #     Pathname.new("/a/b").relative_path_from("/a/c")   #=> #<Pathname:../b>
  def relative_path_from(base)
    base = Pathname.new(base) unless base.is_a?(Pathname)
    to, from = cleanpath.to_s, base.cleanpath.to_s
    raise ArgumentError, "different prefix: #{@path.inspect} and #{base.inspect}" if to.start_with?("/") != from.start_with?("/")
    to, from = [to, from].map { |p| __parts(p).reject { |n| n == "." } }
    while !to.empty? && to.first == from.first
      to.shift
      from.shift
    end
    raise ArgumentError, "base_directory has ..: #{base.inspect}" if from.include?("..")
    parts = from.map { ".." } + to
    self.class.new(parts.empty? ? "." : parts.join("/"))
  end

  # Yields everything below the directory, and it itself; without a block an Enumerator. `Find.prune` leaves a directory out.
  def find(ignore_error: true)
    return to_enum(:find, ignore_error: ignore_error) unless block_given?
    require "find"
    if @path == "."
      Find.find(@path, ignore_error: ignore_error) { |f| yield self.class.new(f.delete_prefix("./")) }
    else
      Find.find(@path, ignore_error: ignore_error) { |f| yield self.class.new(f) }
    end
  end

  # Makes the directory and those above it that are missing.
  def mkpath(mode: nil)
    require "fileutils"
    FileUtils.mkdir_p(@path, mode: mode)
    self
  end

  # Removes the file, or the directory with everything below.
  def rmtree(noop: nil, verbose: nil, secure: nil)
    require "fileutils"
    FileUtils.rm_rf(@path, noop: noop, verbose: verbose, secure: secure)
    self
  end

  # Removes the file, or the directory, which has to be empty.
  def unlink = Dir.exist?(@path) && !File.symlink?(@path) ? Dir.unlink(@path) : File.unlink(@path)
  alias delete unlink

  # Whether the file has no bytes, or the directory no entries.
  def empty? = File.directory?(@path) ? Dir.empty?(@path) : File.empty?(@path)

  # :method: atime: Time of the last access.
  # :method: birthtime: Time when the file was made.
  # :method: ctime: Time of the last change of the file or its owner, rights and the like.
  # :method: mtime: Time of the last change of the content.
  # :method: ftype: The kind of file: "file", "directory", "link", ...
  # :method: exist?: Whether there is such a file.
  # :method: file?: Whether it is a regular file.
  # :method: directory?: Whether it is a directory.
  # :method: symlink?: Whether it is a symbolic link.
  # :method: pipe?: Whether it is a named pipe.
  # :method: socket?: Whether it is a socket.
  # :method: blockdev?: Whether it is a block device.
  # :method: chardev?: Whether it is a character device.
  # :method: readable?: Whether the process may read it.
  # :method: writable?: Whether the process may write it.
  # :method: executable?: Whether the process may run it.
  # :method: readable_real?: Whether the user who started the process may read it.
  # :method: writable_real?: Whether the user who started the process may write it.
  # :method: executable_real?: Whether the user who started the process may run it.
  # :method: world_readable?: The rights if everybody may read it, else nil.
  # :method: world_writable?: The rights if everybody may write it, else nil.
  # :method: owned?: Whether it belongs to the process's user.
  # :method: grpowned?: Whether it belongs to a group of the process.
  # :method: setuid?: Whether it runs as its owner.
  # :method: setgid?: Whether it runs as its group.
  # :method: sticky?: Whether the sticky bit is set.
  # :method: size: Its bytes.
  # :method: size?: Its bytes, or nil if there are none or no such file.
  # :method: zero?: Whether it is a file without bytes.
  # :method: stat: Its File::Stat; symbolic links are followed.
  # :method: lstat: Its File::Stat; of a symbolic link the link's own.
  # :method: extname: The extension with its point, or "".
  %i[
    atime birthtime ctime mtime ftype readable? writable? executable? readable_real? writable_real? executable_real? world_readable? world_writable? exist? file?
    directory? pipe? socket? symlink? blockdev? chardev? owned? grpowned? setuid? setgid? sticky? size size? zero? stat lstat extname
  ].each { |name| define_method(name) { File.__send__(name, @path) } }

  # :method: readlink: What the symbolic link points to.
  # :method: realpath(base = nil): The absolute path without symbolic links; Errno::ENOENT if a part of it is missing.
  # :method: realdirpath(base = nil): The absolute path without symbolic links; the last part may be missing.
  # :method: dirname(levels = 1): The path without its last name.
  # :method: expand_path(base = Dir.pwd): The absolute path, without `.`, `..` and `~`.
  %i[readlink realpath realdirpath dirname expand_path].each do |name|
    define_method(name) { |*args| self.class.new(File.__send__(name, @path, *args)) }
  end

  # The last name of the path, without the suffix if one is given.
  def basename(...) = self.class.new(File.basename(@path, ...))

  # `[directory, name]`.
  def split
    parts = File.split(@path)
    raise TypeError, "wrong argument type #{parts.class} (expected Array)" unless Array === parts
    parts.map { |p| self.class.new(p) }
  end

  # Sets the rights, by their bits.
  def chmod(mode) = File.chmod(mode, @path)
  # Sets the rights of a symbolic link itself; NotImplementedError where the system has none.
  def lchmod(mode) = File.lchmod(mode, @path)
  # Sets owner and group by their numbers; nil leaves one.
  def chown(owner, group) = File.chown(owner, group, @path)
  # Sets owner and group of a symbolic link itself.
  def lchown(owner, group) = File.lchown(owner, group, @path)
  # Sets the times of access and change of a symbolic link itself.
  def lutime(atime, mtime) = File.lutime(atime, mtime, @path)
  # Sets the times of access and change.
  def utime(atime, mtime) = File.utime(atime, mtime, @path)
  # Whether the path fits a pattern, as `File.fnmatch` says.
  def fnmatch(pattern, *args) = File.fnmatch(pattern, @path, *args)
  # Whether the path fits a pattern, as `File.fnmatch` says.
  def fnmatch?(pattern, *args) = File.fnmatch?(pattern, @path, *args)
  # Makes the path another name of the file `old`.
  def make_link(old) = File.link(old, @path)
  # Makes the path a symbolic link to `old`.
  def make_symlink(old) = File.symlink(old, @path)
  # Gives the file another name.
  def rename(to) = File.rename(@path, to)
  # Cuts the file off, or fills it up with zeros, to this number of bytes.
  def truncate(length) = File.truncate(@path, length)
  # Opens the file; with a block it is closed when the block ends.
  def open(...) = File.open(@path, ...)
  # Opens the file, and answers its descriptor.
  def sysopen(...) = IO.sysopen(@path, ...)
  # The content, or a part of it: `(length, offset)`.
  def read(...) = File.read(@path, ...)
  # The content in binary encoding, or a part of it: `(length, offset)`.
  def binread(...) = File.binread(@path, ...)
  # An Array of the lines.
  def readlines(...) = File.readlines(@path, ...)
  # Yields each line; without a block an Enumerator.
  def each_line(...) = File.foreach(@path, ...)
  # Writes a text in the file, and answers the number of bytes.
  def write(...) = File.write(@path, ...)
  # Writes bytes in the file, and answers their number.
  def binwrite(...) = File.binwrite(@path, ...)
  # Makes the directory, with rights if they are given.
  def mkdir(...) = Dir.mkdir(@path, ...)
  # Removes the directory, which has to be empty.
  def rmdir = Dir.rmdir(@path)
  # Opens the directory as Dir; with a block it is closed when the block ends.
  def opendir(&block) = Dir.open(@path, &block)

  # The files below the directory that fit a pattern; with a block each is yielded.
  def glob(pattern, flags = 0)
    names = Dir.glob(pattern, flags, base: @path).map { |f| self + f }
    return names unless block_given?
    names.each { |f| yield f }
    nil
  end
end
