require_relative "work"
# A VM per job, each of which loads a library of Zakuro's own. A few at a time: what holds it up is not that there are many.
4.times do
  jobs = 50.times.map { |i| RubyVM.fork(i, name: "job#{i}") { |i| require "json"; JSON.generate([i]) } }
  jobs.each(&:value)
end
