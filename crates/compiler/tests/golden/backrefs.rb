def m(s)
  s =~ /(.)/
  $~
  $1
  $&
  s.gsub(/x/) { $1 }
  if /(?<year>\d+)-(?<mon>\d+)/ =~ s
    [year, mon]
  end
  $~ = nil
end
def n(s)
  $_ = s
  p 1 if /x/
  p 2 if /#{s}/
end
def o = Regexp.last_match(1)
