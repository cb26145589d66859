# States of the lexer at ends: of heredocs, and of a last line of spaces. Sources that are not valid in their encoding.
require "ripper"
["x = <<A\nfoo\nA\n", "foo(<<A, 1)\nA\n", "foo <<-A.bar\n  a\#{1}b\n  A\n", "<<'A'\nA\n", "[<<A, <<B]\nA\nB\n", "foo <<~A do\n  x\nA\nend\n", "<<~A\n  1\n  \#{<<~B}\n    2\n  B\n  3\nA\n"].each do |source|
  p Ripper.lex(source).select { |t| t[1] == :on_heredoc_end || t[1] == :on_heredoc_beg }.map { |t| t.last.to_s }
end
["1\n\t \t", "foo\n  ", "foo.\n  ", "foo(1)  ", "a\n\n  ", "# a\n  ", "  ", "if a\n  ", "a\n  \n"].each { |source| p Ripper.lex(source).last }
p Ripper.lex("# caf\xC3\xA9\n1".dup.force_encoding("US-ASCII")).map { |t| t[2].b }
