begin
  Integer("zz")
rescue ArgumentError
  raise TypeError, "wrapped"
end
