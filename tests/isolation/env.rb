require_relative "support/pair"
ENV["ZK_MASTER"] = "from master"
ENV["ZK_BOTH"] = "0"
pair(<<~'RUBY')
  inherited = ENV["ZK_MASTER"]
  ENV["ZK_BOTH"] = me.to_s
  ENV["ZK_ONLY#{me}"] = "x"
  ENV.delete("ZK_MASTER") if me == 1
  both.()
  out << [inherited, ENV["ZK_BOTH"], ENV["ZK_MASTER"], ENV.keys.grep(/ZK_ONLY/), ENV.key?("PATH")]
RUBY
p ENV["ZK_MASTER"], ENV["ZK_BOTH"], ENV.keys.grep(/ZK_ONLY/)
