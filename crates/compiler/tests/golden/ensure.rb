def m
  begin
    foo
    return 1 if a
  ensure
    cleanup
  end
  2
end
while x
  begin
    begin
      break 1 if a
      next if b
    rescue
      return
    ensure
      inner
    end
  ensure
    outer
  end
end
x = begin
  x
ensure
  x = 2
  $!
end
f { begin; next 1; ensure; g; end }
f { begin; break 1; ensure; g; end }
