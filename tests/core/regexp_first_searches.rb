# A Regexp's first searches go to another engine than those after a kilobyte of text: they find the same, and take no longer than the text is long.
PATTERNS = [/(?:a{1,30}){1,30}b/, /(?:[ab]{1,20}){2,10}[ac]{1,20}d/, /(?:\w{1,30}\s?){1,30}!/, /(a+)+b/, /(?:a{2,3}){3,30}b/]
TEXTS = ["a" * 60 + "cb", "ab" * 200 + "cd", "abcdefgh" * 10 + "-!", "a" * 40 + "b", "", "b"]
PATTERNS.each do |pattern|
  TEXTS.each do |text|
    first = Regexp.new(pattern.source).match(text)&.offset(0)
    re = Regexp.new("#{pattern.source}(?#)")
    30.times { re.match?("zz" * 20) }
    again = re.match(text)&.offset(0)
    puts "#{pattern.source} #{text.size}: #{first.inspect}#{" then #{again.inspect}" if again != first}"
  end
end
# Groups, anchors, positions, and what `scan` and `gsub` go on from.
re = /(?<word>[a-z]+)(\d{1,3}){0,2}/
long = "abc12 " * 300
p re.match("abc12x").named_captures, re.match("abc12x", 3), "abc1 d22".scan(re), long.scan(re).uniq, re.match("abc12x").named_captures, "abc1 d22".scan(re)
p "x1y2".gsub(/[a-z]\d/) { "<#{$&}>" }, "aXb".index(/[A-Z]/), "aXbY".rindex(/[A-Z]/), "é1".match(/[^a]\d/).offset(0), ("é1" * 700).scan(/[^a]\d/).size
