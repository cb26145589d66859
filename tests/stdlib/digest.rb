require "digest"
require "digest/bubblebabble"

[Digest::MD5, Digest::SHA1, Digest::SHA256, Digest::SHA384, Digest::SHA512, Digest::RMD160].each do |k|
  puts k.hexdigest(""), k.hexdigest("abc"), k.base64digest("The quick brown fox"), k.new.digest_length, k.new.block_length, k.new.length
  d = k.new
  d << "a" * 1000
  e = d.dup
  e.update("b")
  puts d, e.hexdigest, d == e, d == d.hexdigest, d.inspect, d.hexdigest!, d.hexdigest, d.hexdigest("abc") == k.hexdigest("abc"), k.file(__FILE__).hexdigest == k.hexdigest(File.binread(__FILE__))
end
puts Digest::SHA2.new(384).update("x").hexdigest, Digest::SHA2.new.inspect, Digest.hexencode("\x00\xFF"), Digest::MD5.bubblebabble("abc"), Digest.bubblebabble("1234567890")
puts (Digest::SHA2.new(1) rescue "#{$!.class}: #{$!.message}"), (Digest::MD5.hexdigest(nil) rescue "#{$!.class}: #{$!.message}")

# Who asks while another thread reads the file that defines it waits for that.
folder = "/tmp/digest_racing_#{$$}"
Dir.mkdir(folder)
Dir.mkdir("#{folder}/digest")
File.write("#{folder}/digest/racing.rb", "module Digest\n  Racing = nil\n  sleep 0.05\n  remove_const(:Racing)\n  class Racing < Digest::Class\n  end\nend\n")
$LOAD_PATH << folder
other = Thread.new { sleep 0.02; Digest(:Racing) }
p Digest(:Racing), other.value
File.delete("#{folder}/digest/racing.rb")
Dir.rmdir("#{folder}/digest")
Dir.rmdir(folder)
