p File.join("a", "b")
p File.join("a/", "/b")
p File.join("a", ["b", ["c"]])
p File.join
p File.join("", "a")
p File.expand_path("/a/../b/./c")
p File.expand_path("x", "/base")
p File.expand_path("../x", "/base/sub")
p File.expand_path("/")
p File.expand_path("~") == ENV["HOME"]
p File.basename("/a/b.rb")
p File.basename("/a/b.rb", ".rb")
p File.basename("/a/b.rb", ".*")
p File.basename("/")
p File.basename("a/")
p File.basename("")
p File.dirname("/a/b")
p File.dirname("a")
p File.dirname("/")
p File.dirname("/a/b/c", 2)
p File.extname("a.tar.gz")
p File.extname(".bashrc")
p File.extname("a.")
p File.extname("a")
p File.split("/a/b")
p File.absolute_path?("/a")
p File.absolute_path?("a")
p File.fnmatch("*.rb", "a.rb")
p File.fnmatch("*", ".a")
p File.fnmatch("**/*.rb", "a/b/c.rb", File::FNM_PATHNAME)
p File.fnmatch("{a,b}", "a", File::FNM_EXTGLOB)
p File.fnmatch?("[a-c]?", "bz")
p File::SEPARATOR
p File.expand_path("a/b/..", "/r")
p File.absolute_path("~x", "/r")
p File.exist?("/nonexistent/zz")
p File.size?("/nonexistent")
p File.directory?("/")
p File.file?("/")
begin; File.read("/nonexistent/zz"); rescue Errno::ENOENT => e; p e.message, e.errno, e.class.superclass; end
begin; File.open("/", "w"); rescue SystemCallError => e; p e.class; end
begin; File.join(1); rescue TypeError => e; p e.message; end
begin; File.read("a\0b"); rescue ArgumentError => e; p e.message; end
begin; File.open("/tmp", "q"); rescue ArgumentError => e; p e.message; end
