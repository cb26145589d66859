# Suites run from checkouts: what a helper asks of RubyGems and Bundler lies in $LOAD_PATH, whatever its version.
module Kernel
  def gem(*) = nil
  private :gem
end
