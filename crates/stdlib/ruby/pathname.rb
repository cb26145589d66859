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
    def glob(*args, **options)
      names = Dir.glob(*args, **options).map { |f| new(f) }
      return names unless block_given?
      names.each { |f| yield f }
      nil
    end

    def getwd = new(Dir.getwd)
    alias pwd getwd
  end

  undef =~ if Kernel.method_defined?(:=~)

  def initialize(path)
    path = path.to_path if path.respond_to?(:to_path) && !(String === path)
    text = String.try_convert(path)
    raise TypeError, "Pathname.new requires a String, #to_path or #to_str" unless text
    raise ArgumentError, "pathname contains null byte" if text.include?("\0")
    @path = text.dup
  end

  def initialize_copy(other) = @path = other.to_s

  def to_s = @path.dup
  alias to_path to_s
  def inspect = "#<#{self.class}:#{@path}>"
  def hash = @path.hash

  def freeze
    @path.freeze
    super
  end

  def ==(other) = Pathname === other && @path == other.to_s
  alias === ==
  alias eql? ==

  def <=>(other)
    return unless Pathname === other
    @path.tr("/", "\0") <=> other.to_s.tr("/", "\0")
  end

  def sub(*args, &block) = self.class.new(block ? @path.sub(*args, &block) : @path.sub(*args))

  def sub_ext(ext)
    current = File.extname(@path)
    self.class.new(@path.delete_suffix("/").delete_suffix(current) + ext)
  end

  def absolute? = @path.start_with?("/")
  def relative? = !absolute?
  def root? = @path.match?(/\A\/+\z/)
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

  def each_filename(&block)
    return to_enum(:each_filename) unless block
    __parts(@path).each(&block)
    nil
  end

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

  def +(other)
    other = Pathname.new(other) unless Pathname === other
    self.class.new(__plus(@path, other.to_s))
  end
  alias / +

  private def __plus(left, right)
    return right if right.start_with?("/")
    rest = right
    base = left
    loop do
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

  def parent = self + ".."

  def children(with_directory = true)
    with_directory = false if @path == "."
    Dir.children(@path).map { |name| self.class.new(with_directory ? File.join(@path, name) : name) }
  end

  def each_child(with_directory = true, &block) = children(with_directory).each(&block)

  def each_entry(&block)
    return to_enum(:each_entry) unless block
    Dir.foreach(@path) { |name| yield self.class.new(name) }
  end

  def entries = Dir.entries(@path).map { |name| self.class.new(name) }

  def descend
    return to_enum(:descend) unless block_given?
    ascend.to_a.reverse_each { |path| yield path }
    nil
  end

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

  def relative_path_from(base)
    base = Pathname.new(base) unless Pathname === base
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

  def find(ignore_error: true)
    return to_enum(:find, ignore_error: ignore_error) unless block_given?
    require "find"
    if @path == "."
      Find.find(@path, ignore_error: ignore_error) { |f| yield self.class.new(f.delete_prefix("./")) }
    else
      Find.find(@path, ignore_error: ignore_error) { |f| yield self.class.new(f) }
    end
  end

  def mkpath(mode: nil)
    require "fileutils"
    FileUtils.mkdir_p(@path, mode: mode)
    self
  end

  def rmtree(noop: nil, verbose: nil, secure: nil)
    require "fileutils"
    FileUtils.rm_rf(@path, noop: noop, verbose: verbose, secure: secure)
    self
  end

  def unlink = Dir.exist?(@path) && !File.symlink?(@path) ? Dir.unlink(@path) : File.unlink(@path)
  alias delete unlink

  def empty? = File.directory?(@path) ? Dir.empty?(@path) : File.empty?(@path)

  %i[
    atime birthtime ctime mtime ftype readable? writable? executable? readable_real? writable_real? executable_real? world_readable? world_writable? exist? file?
    directory? pipe? socket? symlink? blockdev? chardev? owned? grpowned? setuid? setgid? sticky? size size? zero? stat lstat extname
  ].each { |name| define_method(name) { File.__send__(name, @path) } }

  %i[readlink realpath realdirpath dirname expand_path].each do |name|
    define_method(name) { |*args| self.class.new(File.__send__(name, @path, *args)) }
  end

  def basename(...) = self.class.new(File.basename(@path, ...))

  def split
    parts = File.split(@path)
    raise TypeError, "wrong argument type #{parts.class} (expected Array)" unless Array === parts
    parts.map { |p| self.class.new(p) }
  end

  def chmod(mode) = File.chmod(mode, @path)
  def lchmod(mode) = File.lchmod(mode, @path)
  def chown(owner, group) = File.chown(owner, group, @path)
  def lchown(owner, group) = File.lchown(owner, group, @path)
  def lutime(atime, mtime) = File.lutime(atime, mtime, @path)
  def utime(atime, mtime) = File.utime(atime, mtime, @path)
  def fnmatch(pattern, *args) = File.fnmatch(pattern, @path, *args)
  def fnmatch?(pattern, *args) = File.fnmatch?(pattern, @path, *args)
  def make_link(old) = File.link(old, @path)
  def make_symlink(old) = File.symlink(old, @path)
  def rename(to) = File.rename(@path, to)
  def truncate(length) = File.truncate(@path, length)
  def open(...) = File.open(@path, ...)
  def sysopen(...) = IO.sysopen(@path, ...)
  def read(...) = File.read(@path, ...)
  def binread(...) = File.binread(@path, ...)
  def readlines(...) = File.readlines(@path, ...)
  def each_line(...) = File.foreach(@path, ...)
  def write(...) = File.write(@path, ...)
  def binwrite(...) = File.binwrite(@path, ...)
  def mkdir(...) = Dir.mkdir(@path, ...)
  def rmdir = Dir.rmdir(@path)
  def opendir(&block) = Dir.open(@path, &block)

  def glob(pattern, flags = 0)
    names = Dir.glob(pattern, flags, base: @path).map { |f| self + f }
    return names unless block_given?
    names.each { |f| yield f }
    nil
  end
end
