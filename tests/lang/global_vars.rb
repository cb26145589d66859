$x = 1
def change = $x += 1
change
p $x
p defined?($x)
p defined?($nope)
p $nope
alias $y $x
$y = 10
p $x
"hay needle stack" =~ /n(ee)(d)le/
p $~[0]
p $1
p $2
p $3
p $&
p $`
p $'
p $+
def m
  "other" =~ /t/
  $~.begin(0)
end
m
p $1
[1].each { "blk" =~ /(b)/ }
p $1
p $0.end_with?("global_vars.rb"), $PROGRAM_NAME == $0, __FILE__ == $0
p $,.inspect, $/.inspect, $;.inspect
p $stdout.equal?(STDOUT), $stderr.fileno, $stdin.fileno
p $$ == Process.pid, $*.equal?(ARGV)
p global_variables.include?(:$x), global_variables.include?(:$stdout)
begin
  $stdout = 1
rescue TypeError => e
  p e.message
end
begin
  raise "err"
rescue
  p $!.message, $@.class
end
p $!, $LOAD_PATH.equal?($:), $LOADED_FEATURES.equal?($")
