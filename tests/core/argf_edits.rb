# ARGF: files edited in place, files left within `each_line` and its kin, line numbers, encodings.
require "tmpdir"

def told
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end

Dir.mktmpdir do |dir|
  a, b, c = %w[a b c].map { |name| File.join(dir, name) }
  fill = -> { [a, b, c].each_with_index { |f, i| File.write(f, "#{2 * i + 1}\n#{2 * i + 2}\n") } }
  fill.call

  for method in %i[each_line each_char each_byte each_codepoint]
    got = []
    files = ARGF.class.new(a, b, c)
    files.__send__(method) { |e| got << e; files.skip }
    p got
  end
  got = []
  files = ARGF.class.new(a, b, c)
  files.each_line { |l| files.skip; got << [l, files.gets] }
  p got

  # Only while a file is opened: what is written goes on to the last one.
  out = $stdout
  files = ARGF.class.new(a, b, c)
  files.inplace_mode = ".old"
  puts "a #{files.gets}"
  files.inplace_mode = nil
  puts "still a"
  files.gets
  puts "b #{files.gets}"
  files.inplace_mode = ".old"
  files.gets
  puts "c #{files.gets}"
  $stdout = out
  p [a, b, c, "#{a}.old", "#{c}.old"].map { |f| File.read(f) }, File.exist?("#{b}.old")

  fill.call
  told { files.inplace_mode = "a\0" }
  files = ARGF.class.new(a)
  files.inplace_mode = ".new".encode("UTF-16LE")
  files.each_line { |l| puts l.upcase }
  $stdout = out
  p File.exist?("#{a}.new")

  ARGV.replace([nil])
  told { ARGF.gets }
  told { ARGF.class.new(nil).gets }
  told { ARGF.class.new("x".encode("UTF-16LE")).gets rescue $!.class }

  fill.call
  ARGV.replace([a, b])
  p ARGF.gets, $., ARGF.gets, $., ARGF.gets, $.
  ARGF.rewind
  p $., ARGF.lineno
  p ARGF.gets, $.
  $. = 50
  p ARGF.lineno, ARGF.gets, $.
  one = ARGF.class.new(a, b)
  one.gets
  one.gets
  one.gets
  p one.lineno, $.
  one.lineno = 100
  p $.
  fresh = ARGF.class.new(a)
  p fresh.external_encoding, fresh.internal_encoding
  fresh.gets
  p fresh.internal_encoding
end
