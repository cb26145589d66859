#!/usr/bin/env ruby
# frozen_string_literal: true
begin
  "lit" << "x"
rescue FrozenError => e
  puts e.message
end
puts DATA.read.upcase
__END__
data
