# The locale of the process decides about text from outside, and about programs that are typed.
EXE = File.readlink("/proc/self/exe")
NONE = {"LC_ALL" => nil, "LC_CTYPE" => nil, "LANG" => nil}
TEXT = <<~'RUBY'
  p [Encoding.default_external, Encoding.default_internal, Encoding.find("locale"), Encoding.find("filesystem")]
  p Encoding.locale_charmap, Encoding.aliases.values_at("locale", "filesystem", "external"), __ENCODING__, eval("__ENCODING__")
  p ARGV.map(&:encoding), ENV["WORD"].encoding, ENV["PLAIN"].encoding, $stdin.gets.encoding, `echo`.encoding, $stdin.external_encoding
  p Dir.children(".").map(&:encoding), Dir.pwd.encoding, "\u00e9"
RUBY
def told(vars, *args, input: "\u00e9\n")
  env = NONE.merge({"WORD" => "\u00e9", "PLAIN" => "x"}, vars)
  IO.popen([env, EXE, *args, err: [:child, :out]], "r+") { |io| io.write(input); io.close_write; io.read.force_encoding("UTF-8") }
end

require "tmpdir"
Dir.mktmpdir do |dir|
  Dir.chdir(dir) do
    Dir.mkdir("\u00e9")
    [{}, {"LC_ALL" => "C"}, {"LC_CTYPE" => "POSIX"}, {"LANG" => "C.UTF-8"}, {"LC_ALL" => "C", "LANG" => "C.UTF-8"},
     {"LC_ALL" => "", "LANG" => "C.UTF-8"}, {"LC_ALL" => "no_SUCH.eucJP"}].each do |vars|
      puts "-- #{vars}", told(vars, "-e", TEXT, "\u00e9", "x")
    end
    puts told({}, "-E", "UTF-8", "-e", TEXT), told({}, "-Ku", "-e", TEXT), told({}, "-U", "-e", TEXT)
    # Files are UTF-8 whatever the locale is.
    File.write("a.rb", "p __ENCODING__, '\u00e9'.encoding, File.read(__FILE__).encoding")
    puts told({}, "a.rb"), told({}, input: "p __ENCODING__"), told({"LC_ALL" => "C.UTF-8"}, input: "p __ENCODING__")
    puts told({}, "-e", "p '\u00e9'").lines.first, told({"LANG" => "C.UTF-8"}, "-e", "p '\u00e9'"), told({}, "-e", "# encoding: utf-8\np '\u00e9'.encoding")
  end
end
