END { puts "END block" }
at_exit { puts "at_exit 1" }
at_exit { puts "at_exit 2" }
puts "main"
BEGIN { puts "BEGIN block" }
at_exit do
  at_exit { puts "nested" }
  puts "outer"
end
at_exit { exit 3 }
puts __LINE__
puts DATA.read
__END__
data line 1
data line 2
