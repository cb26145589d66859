# Other names of globals that belong to a frame.
require "English"
alias $MINE $&
alias $BEFORE $`
alias $INFO $~
alias $LINE $_

def english
  "hello world" =~ /o (w)/
  p [$MATCH, $PREMATCH, $POSTMATCH, $LAST_PAREN_MATCH, $LAST_MATCH_INFO]
end

def mine
  "hello world" =~ /l+/
  [1].each { p [$MINE, $BEFORE, $INFO[0]] }
end

def line
  $_ = "a line"
  p $LINE, $LAST_READ_LINE
end

english
mine
line
p $MATCH
# Needs the standard library.
