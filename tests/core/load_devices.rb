# `load` and `require` take what can be read to its end: a FIFO, a device.
require "tmpdir"
def told = yield rescue [$!.class, $!.message]
p load("/dev/null")
p((begin; load("/"); rescue LoadError; $!.message; end))
p((begin; load("/no_such_file"); rescue LoadError; $!.message; end))
Dir.mktmpdir do |dir|
  Dir.chdir(dir) do
    File.mkfifo("a.rb")
    # Who writes may be another thread.
    writer = -> { Thread.new { sleep 0.05; File.write("a.rb", "p [:fifo, File.basename(__FILE__), __LINE__]\n") } }
    2.times { writer.call; p load("./a.rb") }
    writer.call
    p require("./a.rb")
    p require("./a.rb")
    writer.call
    p load("a.rb")
    $LOAD_PATH.unshift(dir)
    writer.call
    p load("a.rb")
    r, w = IO.pipe
    w << "p :pipe"
    w.close
    p load("/dev/fd/#{r.fileno}")
    # Waiting for a FIFO can be ended.
    waits = Thread.new { load("./a.rb") }
    sleep 0.05
    waits.raise(KeyError, "enough")
    p((waits.report_on_exception = false))
    p told { waits.value }
  end
end
