# Without --gc=stress. Ways to get power over a VM that was not given: through what a fork or an image finds of its maker's, through copies, methods, blocks and lists; and what may be had of hash seeds.
TRIES = []
def t(name, &block) = TRIES << [name, block]
def ends(vm, seconds = 10) = (vm.join(seconds); vm.report&.fetch(:kind)) rescue vm.report&.fetch(:kind)
def child(*args, **options, &block) = RubyVM.fork(*args, **options, &block)
PE = RubyVM::PermissionError
SLEEPER = RubyVM.fork { sleep }
%i[kill join value report status].each do |m|
  t("found const #{m}") { child(m) { |m| (SLEEPER.public_send(m); false) rescue $!.is_a?(PE) }.value }
end
$g = SLEEPER
t("found global") { child { ($g.kill; false) rescue $!.is_a?(PE) }.value }
t("found closure") { v = SLEEPER; child { (v.kill; false) rescue $!.is_a?(PE) }.value }
t("found in struct ivar") { o = Object.new; o.instance_variable_set(:@v, SLEEPER); $o = o; child { ($o.instance_variable_get(:@v).kill; false) rescue $!.is_a?(PE) }.value }
t("found dup") { child { (SLEEPER.dup.kill; false) rescue true }.value }
t("found clone") { child { (SLEEPER.clone.kill; false) rescue true }.value }
t("found clone freeze false") { child { (SLEEPER.clone(freeze: false).kill; false) rescue true }.value }
t("found marshal") { child { (Marshal.load(Marshal.dump(SLEEPER)).kill; false) rescue true }.value }
t("found monitor") { child { (SLEEPER.monitor(RubyVM::Channel.new); false) rescue $!.is_a?(PE) }.value }
t("found unmonitor") { child { (SLEEPER.unmonitor(RubyVM::Channel.new); false) rescue $!.is_a?(PE) }.value }
t("found start") { n = RubyVM.new("n", "-e", "1"); $n = n; child { ($n.start; false) rescue $!.is_a?(PE) }.value }
t("found UnboundMethod bind_call") { child { (RubyVM.instance_method(:kill).bind_call(SLEEPER); false) rescue $!.is_a?(PE) }.value }
t("found method object captured before fork") { m = SLEEPER.method(:kill); child { (m.call; false) rescue $!.is_a?(PE) }.value }
t("found proc") { pr = SLEEPER.method(:kill).to_proc; child { (pr.call; false) rescue $!.is_a?(PE) }.value }
t("found via ObjectSpace") { child { ObjectSpace.each_object(RubyVM).select { |v| v.power? }.all? { |v| v == RubyVM.current } }.value }
t("found hash key") { $h = { SLEEPER => 1 }; child { ($h.keys[0].kill; false) rescue $!.is_a?(PE) }.value }
t("found compare_by_identity key") { $h2 = { SLEEPER => 1 }.compare_by_identity; child { ($h2.keys[0].kill; false) rescue $!.is_a?(PE) }.value }
t("found set") { $s = Set[SLEEPER]; child { ($s.first.kill; false) rescue $!.is_a?(PE) }.value }
t("found thread local") { Thread.current[:v] = SLEEPER; child { v = Thread.current[:v]; v.nil? || ((v.kill; false) rescue $!.is_a?(PE)) }.value }
t("found fiber storage") { Fiber[:v] = SLEEPER; child { v = Fiber[:v]; v.nil? || ((v.kill; false) rescue $!.is_a?(PE)) }.value }
t("found binding") { v = SLEEPER; b = binding; child { (b.local_variable_get(:v).kill; false) rescue $!.is_a?(PE) }.value }
t("found instance_variable on class") { String.instance_variable_set(:@vv, SLEEPER); child { (String.instance_variable_get(:@vv).kill; false) rescue $!.is_a?(PE) }.value }
t("found class variable") { Object.class_variable_set(:@@zzv, SLEEPER) rescue 0; child { (Object.class_variable_get(:@@zzv).kill; false) rescue $!.is_a?(PE) }.value }
t("found default proc") { hh = Hash.new { SLEEPER }; child { (hh[1].kill; false) rescue $!.is_a?(PE) }.value }
t("found enumerator") { e = [SLEEPER].each; child { (e.next.kill; false) rescue $!.is_a?(PE) }.value }
t("found in frozen region") { a = Ractor.make_shareable([SLEEPER]) rescue nil; a.nil? || child { (a[0].kill; false) rescue $!.is_a?(PE) }.value }
t("image keeps no power") { img = RubyVM::Image.capture; img.spawn { (SLEEPER.kill; false) rescue $!.is_a?(PE) }.value }
t("image twice") { img = RubyVM::Image.capture; v = img.spawn { RubyVM::Image.capture.spawn { (SLEEPER.kill; false) rescue $!.is_a?(PE) }.value }.value }
t("sent has power") { v = child { sleep }; child(v) { |v| v.kill(grace: 0); true }.value && ends(v) == :killed }
t("sent to two") { v = child { sleep }; 2.times.map { child(v) { |v| v.power? }.value }.all? }
t("sent in channel") { v = child { sleep }; ch = RubyVM::Channel.new; ch << [v]; child(ch) { |c| c.recv[0].power? }.value }
t("a copy without power back at the maker has none") { ch = RubyVM::Channel.new; child(ch) { |c| (c << SLEEPER) }.join; v = ch.recv; [true, false].include?(v.power?) && v == SLEEPER }
t("result of VM") { child { child { sleep } }.value.power? }
t("exception of VM carries") { (child { e = RuntimeError.new("x"); e.instance_variable_set(:@v, RubyVM.current); raise e }.value; false) rescue $!.cause.instance_variable_get(:@v).power? }
t("list of child") { child { RubyVM.list.all? { |v| v == RubyVM.current } }.value }
t("list of grandchild seen") { child { v = child { sleep }; RubyVM.list.size == 2 && (v.kill(grace: 0); true) }.value }
t("id no way") { id = SLEEPER.id; child(id) { |id| (RubyVM.list.find { |v| v.id == id }).nil? }.value }
t("inspect no power") { child { SLEEPER.inspect.is_a?(String) && SLEEPER.alive? && SLEEPER.name.is_a?(String) }.value }
t("allocate") { (RubyVM.allocate.kill; false) rescue true }
t("Process.kill self") { v = child { Process.kill(:KILL, $$); sleep 5; 1 }; ends(v) != :exited }
t("Process.kill 0") { child { (Process.kill(0, $$)) == 1 }.value }
t("Process.kill parent group") { v = child { (Process.kill(:TERM, 0); sleep 1; 1) rescue 2 }; ends(v); true }
t("Process.kill -1") { v = child { (Process.kill(:TERM, -$$); sleep 1; 1) rescue 2 }; ends(v); true }
t("exit! child") { v = child { exit!(3) }; v.join rescue 0; v.status == 3 }
t("abort child") { v = child { $stderr.reopen(File::NULL); abort "x" }; v.join rescue 0; v.status == 1 }
t("Ractor.main of a Ractor") { r = Ractor.new { (Ractor.main.value; false) rescue $!.class.name }; r.value != false }
t("monitor of sent") { v = child { sleep }; ch = RubyVM::Channel.new; child(v, ch) { |v, ch| v.monitor(ch) }.join; v.kill(grace: 0); ch.recv(timeout: 5) == :killed }
t("kill twice") { v = child { begin; sleep; ensure; sleep; end }; v.kill(grace: 30); v.kill(grace: 0); ends(v) == :killed }
t("kill ended") { v = child { 1 }; v.join; v.kill; v.report[:kind] == :exited }
t("kill before start") { v = RubyVM.new("n", "-e", "sleep"); (v.kill; true) rescue true }
t("start twice") { v = RubyVM.new("n", "-e", "1"); v.start; (v.start; false) rescue true }


t("seed differs") { a = `#{File.readlink("/proc/self/exe")} -e 'p "abc".hash'`; b = `#{File.readlink("/proc/self/exe")} -e 'p "abc".hash'`; a != b }
t("new VM's seed differs") { v = RubyVM.new("h", "-e", "RubyVM::ARGV[0] << 'abc'.hash"); ch = RubyVM::Channel.new; v.start(ch); ch.recv != "abc".hash }
t("fork keeps") { child { "abc".hash }.value == "abc".hash }
%w[1 1.5 :a nil [1] {a:1} 1r 2i (1..2) 10**30 "é" Set[1] Time.at(0) String].each do |c|
  t("hash of #{c} hidden") { v = RubyVM.new("h", "-e", "RubyVM::ARGV[0] << (#{c}).hash"); ch = RubyVM::Channel.new; v.start(ch); x = ch.recv(timeout: 5); x.is_a?(Integer) }
end
t("hash in a message is rebuilt") { h = { "a" => 1, [1] => 2, 1.5 => 3, nil => 4 }; ch = RubyVM::Channel.new; v = RubyVM.new("h", "-e", "a, b = RubyVM::ARGV; h = a.recv; b << [h['a'], h[[1]], h[1.5], h[nil]]"); b = RubyVM::Channel.new; ch << h; v.start(ch, b); b.recv(timeout: 5) == [1, 2, 3, 4] }
t("set in a message") { ch = RubyVM::Channel.new; v = RubyVM.new("h", "-e", "a, b = RubyVM::ARGV; h = a.recv; b << [h.include?('x'), h.include?([1])]"); b = RubyVM::Channel.new; ch << Set["x", [1]]; v.start(ch, b); b.recv(timeout: 5) == [true, true] }
t("flood") { t0 = Process.clock_gettime(1); h = {}; 50_000.times { |i| h[[i, -i]] = 1; h["#{i}\0"] = 1; h[i * 2**32] = 1; h[i.to_f] = 1 }; Process.clock_gettime(1) - t0 < 20 }
t("frozen Hash constant in fork") { $fh = { "k" => 1 }.freeze; child { $fh["k"] == 1 && $fh.key?("k") }.value }
t("hash with mutated key") { k = [1]; h = { k => 1 }; k << 2; h.rehash; h[[1, 2]] == 1 }

TRIES.each do |name, block|
  thread = Thread.new(&block)
  thread.report_on_exception = false
  held = thread.join(30) ? thread.value : :goes_on
  puts "#{name}: #{held.inspect}" unless held == true
rescue Exception => e
  puts "#{name}: #{e.class}: #{e.message[0, 100]}"
end
puts "#{TRIES.size} held"
SLEEPER.kill(grace: 0)
