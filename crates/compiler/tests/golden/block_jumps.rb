def m
  a = each do |x|
    next 1 if x
    break 2 if y
    return 3 if z
    redo
  end
  l = -> { return 4 }
  l2 = -> { each { return 5 } }
  while a
    each { break }
    break
  end
end
