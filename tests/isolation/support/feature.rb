module Feature
  @count = 0
  class << self
    attr_accessor :count
  end
end
