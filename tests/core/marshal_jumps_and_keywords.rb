# What remote calls carry: keywords that `ruby2_keywords` kept, and jumps whose target is gone.
class Proxy
  ruby2_keywords def method_missing(name, *args) = Marshal.dump([name, args])
end
def target(a, b: 0) = [a, b]

name, args = Marshal.load(Proxy.new.target(1, b: 2))
p send(name, *args), Hash.ruby2_keywords_hash?(args.last)
p Marshal.dump(Hash.ruby2_keywords_hash({ a: 1 }))
p Marshal.dump({ a: 1 })

def maker = proc { break :value }
begin
  maker.call
rescue LocalJumpError => e
  copy = Marshal.load(Marshal.dump(e))
  p e.instance_variables.sort, copy.reason, copy.exit_value
end
