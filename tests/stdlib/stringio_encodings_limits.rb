# Encodings, shared streams, paragraphs with limits, and what is refused first.
require 'stringio'
def t(n); p [n, yield]; rescue Exception; p [n, $!.class, $!.message]; end
t(1){s=+"abc"; io=StringIO.new(s); s.force_encoding("BINARY"); [io.read.encoding, io.external_encoding]}
t(1.1){s=+"abc"; io=StringIO.new(s); s.force_encoding("BINARY"); [io.gets.encoding, io.getc]}
t(1.2){s=+"abcé"; io=StringIO.new(s); s.force_encoding("BINARY"); io.each_char.to_a}
t(1.3){s=+"abcé"; io=StringIO.new(s); io.set_encoding("UTF-8"); s.force_encoding("BINARY"); [io.external_encoding, io.read.encoding,s.encoding]}
t(1.4){s=+"abcé"; io=StringIO.new(s); io.set_encoding(nil); [io.external_encoding, io.read.encoding,s.encoding]}
t(1.5){s=+"abcé"; io=StringIO.new(s); io.set_encoding("BINARY"); [io.external_encoding, io.read.encoding,s.encoding]}
t(1.6){s="abcé".freeze; io=StringIO.new(s); io.set_encoding("BINARY"); [io.external_encoding, io.read.encoding,s.encoding]}
t(1.7){s=+"abcé"; io=StringIO.new(s,"r:BINARY"); [io.external_encoding, io.read.encoding,s.encoding]}
t(1.8){s=+"abcé"; io=StringIO.new(s,"r+:BINARY"); [io.external_encoding, io.read.encoding,s.encoding]}
t(1.9){io=StringIO.new; [io.external_encoding, io.read.encoding,io.string.encoding, io.internal_encoding]}
t(1.91){io=StringIO.new(+"abc"); io.string="x".b; [io.external_encoding, io.read.encoding]}
t(1.92){io=StringIO.new(+"abc"); io.set_encoding("UTF-16LE"); io.string="x".b; [io.external_encoding, io.read.encoding]}
t(2){io=StringIO.new(+"abc"); d=io.dup; d.string=+"other"; [io.string, io.pos, d.read, io.pos]}
t(2.1){io=StringIO.new(+"abc"); d=io.clone; d.set_encoding("BINARY"); [io.external_encoding, io.read.encoding]}
t(2.2){io=StringIO.new(+"abc"); d=io.dup; d.close; [io.closed?, io.read]}
t(2.3){io=StringIO.new(+"abc\nd"); d=io.dup; d.gets; [io.lineno, io.pos]}
t(2.4){io=StringIO.new(+"abc\nd"); d=io.dup; d.reopen(+"zzz"); [io.string, d.string,io.read]}
t(2.5){io=StringIO.new(+"abc\nd"); d=StringIO.new; d.reopen(io); d.string=+"q"; [io.string, d.string]}
t(2.6){io=StringIO.new(+"abc\nd"); d=io.dup; d.close_read; io.close_write; [io.closed_read?, io.closed_write?,d.closed_write?, d.closed?]}
t(3){StringIO.new(+"é",binmode: true).read.encoding}
t(3.1){io=StringIO.new(+"é"); io.binmode; [io.read.encoding, io.external_encoding, io.string.encoding]}
t(3.2){io=StringIO.new(+"é","rb"); [io.read.encoding, io.external_encoding]}
t(3.3){io=StringIO.new(+"é","r+b"); [io.read.encoding, io.external_encoding]}
t(3.4){io=StringIO.new(+"é",binmode: true); io.external_encoding}
t(4){StringIO.new(+"aé日\nx\r\ny").readlines("",4)}
t(4.1){StringIO.new(+"aé日\n\n\nx\r\ny").readlines("",4)}
t(4.2){StringIO.new(+"\n\n\naé日\n\n\nx\r\ny\n\n\n").readlines("",5)}
t(4.3){StringIO.new(+"aé日\nx\r\ny").readlines(nil,4)}
t(4.4){StringIO.new(+"aé日\nx\r\ny").readlines(4)}
t(4.5){StringIO.new(+"aé日\nx\r\ny").readlines("日",3)}
t(4.6){(1..8).map{|n| StringIO.new(+"ab\n\ncd\n\n\n\nef\n").readlines("",n)}}
t(4.7){(1..8).map{|n| StringIO.new(+"ab\n\ncd\n\n\n\nef\n").readlines("",n,chomp: true)}}
t(4.8){(1..4).map{|n| StringIO.new(+"ab\ncd\r\nef\n").readlines("\n",n,chomp: true)}}
t(5){io=StringIO.new(+"a\n\n\nb\n\n"); io.pos=5; [io.gets(""), io.pos]}
t(5.1){io=StringIO.new(+"a\n\n\nb\n\n"); [io.gets(""), io.pos,io.gets(""), io.pos,io.gets(""), io.pos, io.eof?, io.lineno]}
t(5.2){io=StringIO.new(+"\n\n\n"); [io.gets(""), io.pos, io.lineno]}
t(5.3){io=StringIO.new(+"\n\n\na"); [io.gets(""), io.pos, io.lineno]}
t(6){io=StringIO.new(+"a\nb\n"); n=0; io.each_line{|l| n+=1; io.close}; n}
t(6.1){io=StringIO.new(+"a\nb\n"); n=0; io.each_char{|l| n+=1; io.close}; n}
t(6.2){io=StringIO.new(+"a\nb\n"); n=0; io.each_byte{|l| n+=1; io.close}; n}
t(6.3){io=StringIO.new(+"a\nb\n"); n=0; io.each_codepoint{|l| n+=1; io.close}; n}
t(6.4){io=StringIO.new(+"a\nb\n"); n=0; io.each_line{|l| n+=1; io.close_read}; n}
t(6.5){io=StringIO.new(+"a\nb\n"); n=0; io.each_line(""){|l| n+=1; io.close_read}; n}
t(7){StringIO.new(+"abc").set_encoding("nope").class}
t(7.1){StringIO.new(+"abc").set_encoding("nope:UTF-8").external_encoding}
t(7.2){StringIO.new(+"abc").set_encoding("BINARY:UTF-8").external_encoding}
t(7.3){StringIO.new(+"abc").set_encoding("BINARY","UTF-8").internal_encoding}
t(7.4){StringIO.new(+"abc").set_encoding("BOM|UTF-8").external_encoding}
t(7.5){StringIO.new(+"abc").set_encoding(3).external_encoding}
t(7.6){StringIO.new(+"abc","r:nope").external_encoding}
t(7.7){StringIO.new(+"abc").set_encoding}
t(8){StringIO.new(+"abc").ungetc(-1)}
t(8.1){io=StringIO.new(+"abc");io.ungetc(-200)}
t(8.2){io=StringIO.new(+"abc");io.ungetc(0xe9); io.string}
t(8.3){io=StringIO.new(+"abc");io.ungetc(2**40); io.string}
t(8.4){io=StringIO.new(+"abc");io.ungetc(nil)}
t(8.5){io=StringIO.new(+"abc");io.ungetbyte(-1); io.string}
t(8.6){io=StringIO.new(+"abc");io.ungetbyte(0x141); io.string}
t(8.7){io=StringIO.new(+"abc".b);io.ungetc(0x141); io.string}
t(8.8){io=StringIO.new(+"abc");io.ungetc(0xd800); io.string}
t(8.9){io=StringIO.new(+"abc");io.ungetc(""); io.string}
t(9){io=StringIO.new(+"abc"); io.read; r=io.set_encoding_by_bom; [r,io.pos]}
t(9.1){io=StringIO.new(+"\uFEFFabc"); io.read; r=io.set_encoding_by_bom; [r,io.pos,io.read]}
t(9.2){io=StringIO.new(+"\uFEFFabc"); r=io.set_encoding_by_bom; [r,io.pos,io.read]}
t(9.3){io=StringIO.new(+"\uFEFFabc"); io.pos=1; r=io.set_encoding_by_bom; [r,io.pos,io.read]}
t(9.4){io=StringIO.new(+"abc"); io.pos=1; r=io.set_encoding_by_bom; [r,io.pos,io.read, io.external_encoding]}
t(9.5){io=StringIO.new("\uFEFFabc".freeze); r=io.set_encoding_by_bom; [r,io.pos,io.read.encoding, io.external_encoding]}
t(10){io=StringIO.new(+"","w"); io.read(-3)}
t(10.1){io=StringIO.new(+"","w"); io.read(1,"x".freeze)}
t(10.2){io=StringIO.new(+"","w"); io.read("x")}
t(10.3){io=StringIO.new(+"","w"); io.gets(1,2,3)}
t(10.4){io=StringIO.new(+"","w"); io.readlines(0)}
t(10.5){io=StringIO.new(+"","w"); io.each_line(0){}}
t(10.6){io=StringIO.new(+"","w"); io.pread(-3,0)}
t(10.7){io=StringIO.new(+"","w"); io.sysread(-3)}
t(10.9){StringIO.new(+"").read(-3)}
t(11){StringIO.new(+"abc").sysread(0).encoding}
t(11.1){StringIO.new(+"abc").read(0).encoding}
t(11.2){StringIO.new(+"").sysread(0)}
t(11.3){StringIO.new(+"abc").readpartial(0).encoding}
t(11.4){StringIO.new(+"abc").read_nonblock(0).encoding}
t(11.5){b=+"é"; StringIO.new(+"abc").read(0,b); [b,b.encoding]}
t(11.6){b=+"é"; StringIO.new(+"abc").sysread(0,b); [b,b.encoding]}
t(11.7){StringIO.new(+"").sysread(1)}
t(11.8){StringIO.new(+"abc").pread(0,0).encoding}
t(11.9){StringIO.new(+"abc").pread(2,0).encoding}
t(12){StringIO.new(+"abc").sysread.encoding}
$stderr = $stdout
$VERBOSE = nil
p StringIO.new(+"é", external_encoding: "BINARY").read.encoding
p StringIO.new(+"é", mode: "r:BINARY").read.encoding
p StringIO.new(+"é", encoding: "EUC-JP").external_encoding
p StringIO.new(+"é", nil, encoding: "EUC-JP").external_encoding
p StringIO.new(+"é", nil, binmode: true).external_encoding
io=StringIO.new(+"abc"); io.set_encoding("nope")
p io.external_encoding, io.string.encoding
io=StringIO.new("abc".freeze); io.set_encoding("nope:UTF-8"); p io.external_encoding
io=StringIO.new(+"abc"); io.set_encoding("BOM|UTF-8"); p io.external_encoding
io=StringIO.new(+"abc"); io.ungetc(-1);  p io.string
io=StringIO.new(+"abc"); io.ungetc(-2);  p io.string
io=StringIO.new(+"abc".b); io.ungetc(-1) rescue p $!
io=StringIO.new(+"abc"); io.ungetc(0x110000) rescue p $!
io=StringIO.new((+"abc").force_encoding("US-ASCII")); io.ungetc(200) rescue p $!
p io.string
io=StringIO.new((+"abc").force_encoding("EUC-JP")); io.ungetc(0x1ff) rescue p $!
io=StringIO.new(+"abc"); io.reopen(+"zz","r:BINARY"); p io.external_encoding
io=StringIO.new(+"abc"); io.reopen((+"zz").b); p io.external_encoding
