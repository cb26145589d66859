at_exit { puts "status #{$!.status}" }
[2, false, true].each do |code|
  exit(code)
rescue SystemExit => e
  p e.status, e.success?, e.message
end
begin
  abort
rescue SystemExit => e
  p e.status
end
begin
  exit 5
ensure
  puts "ensure"
end
