module WebMock; def self.disable_net_connect!(*)=nil; end
