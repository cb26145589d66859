def job
  raise ArgumentError, "no good"
end
job
