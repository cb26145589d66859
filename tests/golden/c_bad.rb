def m
  1 +
end
