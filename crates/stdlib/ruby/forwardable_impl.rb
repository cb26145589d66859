# forwardable/impl: what Forwardable needs of the interpreter. The library's own file asks the reference's instruction sequences.

module Forwardable
  # Whether `().NAME` is a call.
  def self._valid_method?(method)
    method.to_s.match?(/\A(?:[[:alpha:]_][[:alnum:]_]*[?!]?|\[\]|\*\*|[+\-*\/%&|^~<>!]|==|===|=~|!=|!~|<=>|<=|>=|<<|>>)\z/)
  end

  # :nodoc:
  def self._compile_method(src, file, line) = eval(src, nil, file, line)
end
