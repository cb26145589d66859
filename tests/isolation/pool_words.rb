# Words of jobs in any encoding; the pool's thread killed as soon as it is there.
texts = ["abc".encode("UTF-16LE"), "é".encode("UTF-32BE"), "é".encode("ISO-8859-1"), "\xff\xfe".b, "日本".encode("EUC-JP"), "x".dup.force_encoding("UTF-16")]
RubyVM::Pool.open(size: 1, name: "pool".encode("UTF-16LE")) do |pool|
  texts.each do |text|
    pool.submit { raise text }.value
  rescue RubyVM::Pool::JobError => e
    p [e.message, e.cause&.message == text]
  end
  p pool.map([texts[0]], errors: :return) { |t| raise SystemExit.new(1, t) }.map { |e| [e.class, e.message] }
  p pool.submit { 1 }.value
end
begin
  RubyVM::Pool.open(size: 1) { |q| q.submit { 1 }.value }
  pool = RubyVM::Pool.new(size: 1, name: "setup") { raise "abc".encode("UTF-16LE") }
  pool.submit { 1 }.value
rescue RubyVM::Pool::Error => e
  p e.class, e.message
end

20.times do |i|
  pool = RubyVM::Pool.new(size: 1, name: "killed")
  thread = Thread.list.find { |t| t.name == "killed" }
  i.even? ? thread.kill : thread.raise("boo")
  # On busy cores jobs may be done before the thread gets to hear of it.
  1000.times { pool.submit(1) { |x| x }.value }
  puts "values"
rescue RubyVM::Pool::Error => e
  (@seen ||= {})[e.message[/the thread of the pool killed was killed|boo/]] = true
end
p @seen.keys.sort
