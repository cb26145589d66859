# What a program is told without -w of patterns that look like a mistake, each time one is made, and what it is told with -w only.
def Warning.warn(message, **) = puts("  " + message.sub(/\A.*?warning: /, ""))

[nil, false, true].each do |level|
  $VERBOSE = level
  p level
  ["[aa]", "[a-b-c]", "[-a-]", '\y', '\p', "a**", "(A{0,1}+)A", "(?:a+)?", "[]a]", "a]", "a{1,2}+", "(?<n>a??)*", "(?-mix:a+)?", "(?-i:a+)?", "(?i:[b]+)?", "(?:(?-mix:a)+)?"].each do |source|
    2.times { Regexp.new(source) }
    eval("x = /#{source}/; x") unless source.start_with?("[]")
    piece = source
    /#{piece}/
  end
end
