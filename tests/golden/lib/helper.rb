module Helper
  def self.help = :helped
end
