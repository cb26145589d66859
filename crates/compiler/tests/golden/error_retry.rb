def m
  retry
end
class A
  return
end
