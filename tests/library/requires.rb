# Without --gc=stress. # Every library loads in a fresh VM. Listed: what does not, and why.
EXPECTED = {
  "mkmf" => "there is nothing to compile C extensions against"
}
library = RbConfig::CONFIG["rubylibdir"]
features = Dir.children(library).grep(/\.rb\z/) + Dir["#{library}/gems/gems/*/lib/*.rb"].map { |f| File.basename(f) }
features.map! { |f| f.delete_suffix(".rb") }
features |= %w[
  bigdecimal bigdecimal/util bigdecimal/math cgi/escape coverage date digest digest/md5 digest/rmd160 digest/sha1 digest/sha2 drb/drb etc fcntl io/console io/console/size
  io/nonblock io/wait json json/add/core json/generic_object kconv minitest/autorun monitor net/ftp net/http net/https net/imap net/pop net/smtp nkf objspace openssl
  optparse/time pathname pty random/formatter racc/parser rake/testtask rbconfig readline rexml/document rinda/tuplespace ripper set/subclass_compatible socket stringio strscan syslog syslog/logger
  test/unit unicode_normalize/normalize yaml/store zlib bundler/setup rubygems/package rubygems/gem_runner
]
# What is waited for beside: at most this many at once, for the memory.
failed = Queue.new
work = Queue.new
features.sort.each { |f| work << f }
work.close
code = "begin; require RubyVM::ARGV[0]; rescue Exception => e; RubyVM::ARGV[1] << [e.class.name, e.message]; ensure; exit! end"
2.times.map do
  Thread.new do
    while feature = work.pop
      out = RubyVM::Channel.new
      vm = RubyVM.new(feature, "-W0", "-e", code, wall_limit: 60).start(feature, out)
      begin
        vm.join
      rescue StandardError => e
        failed << [feature, e.class, e.message]
      end
      failed << [feature, *out.recv] if out.size > 0
    end
  end
end.each(&:join)
failed = Array.new(failed.size) { failed.pop }
puts failed.reject { |feature, *| EXPECTED.key?(feature) }.sort.map(&:inspect)
puts "loads now: #{(EXPECTED.keys & features) - failed.map(&:first)}" unless (EXPECTED.keys & features).all? { |f| failed.any? { |g, *| g == f } }
p features.size > 100
