# A database of postal codes: made up (towns are syllables, codes are drawn), with an index by code and one by the beginning of a town's name.
require "drb"

class PostalCodes
  # It stays where it is: others get references.
  include DRb::DRbUndumped

  SYLLABLES = %w[a ka sa ta na ha ma ya ra wa ki shi chi ni mi ri ku su tsu nu mu yu ru ke se te ne me re ko so to no mo yo ro].freeze

  def initialize(count, seed = 1)
    random = Random.new(seed)
    @towns = {}
    @by_name = Hash.new { |all, start| all[start] = [] }
    while @towns.size < count
      code = format("%03d-%04d", random.rand(1000), random.rand(10_000))
      next if @towns.key?(code)
      town = Array.new(2 + random.rand(3)) { SYLLABLES.sample(random: random) }.join.capitalize
      @towns[code] = town
      @by_name[town[0, 3]] << code
    end
  end

  def size = @towns.size

  # The town of a code, or nil; ArgumentError when it is none.
  def town(code)
    raise ArgumentError, "not a postal code: #{code}" unless code.is_a?(String) && code.match?(/\A\d{3}-\d{4}\z/)
    @towns[code]
  end

  # Codes of towns whose names begin so; with a block, each code and town is yielded, wherever the block is.
  def search(start)
    codes = @by_name.fetch(start[0, 3].capitalize, []).select { |code| @towns[code].start_with?(start.capitalize) }.sort
    return codes unless block_given?
    codes.each { |code| yield code, @towns[code] }
    codes.size
  end

  def some(count, seed) = @towns.keys.sample(count, random: Random.new(seed))
end
