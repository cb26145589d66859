# Elements of several values stay so in a chain, and are Arrays at its end.
p [5].each_with_index.lazy.select{|a,b| true}.map{|a| a}.to_a
p [5].each_with_index.lazy.select{|a,b| true}.to_a
ms = %i[select filter reject take_while drop_while filter_map flat_map map collect zip uniq compact take drop with_index each_with_index tee grep grep_v slice_when chunk_while lazy eager find_all collect_concat]
class P; include Enumerable; def each; yield; yield 1,2; yield [3,4]; yield 5; end; end
p P.new.lazy.map{|*a| a}.first(4)
p P.new.lazy.map{|a| a}.to_a, P.new.lazy.to_a, P.new.lazy.force, P.new.lazy.first(2), P.new.lazy.first
def t(n); p [n, yield]; rescue Exception; p [n, $!.class, $!.message]; end
fin = {m1: ->(l){l.map{|a| a}.to_a}, ms: ->(l){l.map{|*a| a}.to_a}, m2: ->(l){l.map{|a,b| [a,b]}.to_a}, to_a: ->(l){l.to_a}, each: ->(l){r=[]; l.each{|*a| r<<a}; r}, lam: ->(l){l.map(&->(a){a}).to_a}, sel: ->(l){r=[];l.select{|*a| r<<a}.to_a; r}, eager: ->(l){l.eager.map{|*a| a}}, fm: ->(l){l.flat_map{|*a| [a]}.to_a},fl: ->(l){l.filter_map{|*a| a}.to_a}, tw: ->(l){r=[];l.take_while{|*a| r<<a}.to_a; r}, rj: ->(l){r=[];l.reject{|*a| r<<a;false}.to_a; r}, wi: ->(l){r=[];l.with_index.map{|*a| a}.to_a}, wib: ->(l){r=[];l.with_index{|*a| r<<a}.to_a;r}, uq: ->(l){r=[];l.uniq{|*a| r<<a;a}.to_a;r}, gr: ->(l){l.grep(Object){|*a| a}.to_a}, grv: ->(l){l.grep_v(String){|*a| a}.to_a}, dw: ->(l){r=[];l.drop_while{|*a| r<<a;true}.to_a; r}, next: ->(l){[l.next, l.next]}, zip: ->(l){l.zip([1,2]).map{|*a| a}.to_a}, inj: ->(l){l.inject([]){|s,*a| s+[a]}}, inc: ->(l){l.include?([1,2])}, ewi: ->(l){l.each_with_index.map{|*a| a}.to_a}, tally: ->(l){l.tally}, }
srcs = {id: ->(l){l}, sel: ->(l){l.select{|a,b| true}}, sel1: ->(l){l.select{|a| true}}, sels: ->(l){l.select{|*a| true}}, rej: ->(l){l.reject{false}}, tw: ->(l){l.take_while{true}}, dw: ->(l){l.drop_while{false}}, dw2: ->(l){c=0;l.drop_while{(c+=1)<2}}, take: ->(l){l.take(3)}, drop: ->(l){l.drop(1)}, fm: ->(l){l.filter_map{|a| a}}, uniq: ->(l){l.uniq}, uniqb: ->(l){l.uniq{|a| a}}, compact: ->(l){l.compact}, grep: ->(l){l.grep(Object)}, grep_v: ->(l){l.grep_v(String)}, wi: ->(l){l.with_index{}}, zip: ->(l){l.zip([1,2])}, flat: ->(l){l.flat_map{|a| a}}, lazy: ->(l){l.lazy}, eager: ->(l){l.eager.lazy}, mapid: ->(l){l.map{|a| a}}, }
srcs.each{|sn,s| fin.each{|fn,f|
 t([sn,fn,:P]){f[s[P.new.lazy]]}
 t([sn,fn,:ewi]){f[s[[5,6].each_with_index.lazy]]} }}
t(:a){[5].each_with_index.lazy.select{|a| p a}.to_a}
t(:b){[5].each_with_index.lazy.select.with_index.to_a}
t(:h){{a: 1}.lazy.select{|k,v| true}.map{|k| k}.to_a}
t(:h){{a: 1}.lazy.select{|k,v| true}.map{|k,v| v}.to_a}
t(:h){{a: 1}.each_with_index.lazy.select{|(k,v),i| true}.map{|k,i| [k,i]}.to_a}
t(:sel){[5].each_with_index.lazy.select(&->(a,b){true}).to_a}
t(:sel){[5].each_with_index.lazy.select(&->(a){true}).to_a}
r=[]; P.new.lazy.each{|*a| r<<a}; p r
r=[]; P.new.lazy.to_enum(:each).each{|*a| r<<a}; p r
r=[]; [5].lazy.with_index.each{|*a| r<<a}; p r
l=Enumerator::Lazy.new([1,2]){|y,v| y.yield v,v; y.yield}
r=[]; l.each{|*a| r<<a}; p r
r=[]; l.map{|*a| r<<a}.to_a; p r
r=[]; l.select{|*a| r<<a}.to_a; p r
r=[]; l.select{true}.map{|*a| r<<a}.to_a; p r
r=[]; Enumerator::Lazy.new(P.new){|y,*v| r<<v; y.yield(*v)}.to_a; p r
r=[]; Enumerator::Lazy.new(P.new.lazy.select{true}){|y,*v| r<<v; y.yield(*v)}.to_a; p r
r=[]; P.new.lazy.select{true}.each_slice(2).each{|*a| r<<a}; p r
r=[]; P.new.lazy.each_slice(2).map{|*a| r<<a}.to_a; p r
p P.new.lazy.with_index.map{|*a| a}.to_a, P.new.lazy.with_index.select{|a| a}.map{|a,b| a}.to_a
p P.new.lazy.filter_map{|*a| a}.to_a, P.new.lazy.uniq{|*a| a}.map{|*a| a}.to_a
p [1,2].each_with_index.lazy.zip([7]).map{|*a| a}.to_a
p P.new.lazy.compact.map{|*a| a}.to_a
p P.new.lazy.tally, P.new.lazy.select{true}.to_a.size, P.new.lazy.select{true}.eager.to_a
p [[1,2]].lazy.select{true}.map{|*a| a}.to_a
p P.new.lazy.take(2).map{|*a| a}.to_a, P.new.lazy.take(0).map{|*a| a}.to_a
e=P.new.lazy.select{true}; p e.next_values, e.next_values, e.next, e.peek_values
e=P.new.lazy; p e.next_values, e.next_values, e.next
