# What exceptions tell beside their message, once they were dumped.
def error
  yield
  nil
rescue Exception => e
  e
end

def again(e) = Marshal.load(Marshal.dump(e))

thrown = again(error { throw :done, [1, 2] })
p thrown.tag, thrown.value, thrown.message, thrown.class
thrown = again(error { throw "text" })
p thrown.tag, thrown.value, thrown.message
made = again(UncaughtThrowError.new(:a, 2, "no %p here"))
p made.tag, made.value, made.message
p Marshal.load("\x04\bo:\x17UncaughtThrowError\t:\tmesg\"\x16uncaught throw %p:\abt0:\btag:\x06q:\nvaluei\f").message
p (Marshal.dump(error { throw proc {}, 1 }) rescue [$!.class, $!.message])
p again(error { exit 3 }).status, again(error { exit }).success?
p again(error { raise SignalException, "TERM" }).signo, again(error { raise Interrupt }).signo
p again(error { File.open("/none/at/all") }).errno, again(error { raise SystemCallError.new("x", 99_999) }).errno
p again(error { [7].each.tap(&:next).next }).result
e = again(error { { a: 1 }.fetch(:b) })
p e.key, e.receiver
