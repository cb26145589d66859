# Array: what is not hot.

class Array
  # The last element for which the block is true, else what `if_none` answers, or nil; without a block an Enumerator.
  #
  #     [1, 2, 3].rfind(&:odd?)   #=> 3
  def rfind(if_none = nil)
    return to_enum(:rfind, if_none) unless block_given?
    i = size
    while i > 0
      i -= 1
      i = size - 1 if i >= size
      break if i < 0
      e = self[i]
      return e if yield(e)
    end
    if_none&.call
  end
end
