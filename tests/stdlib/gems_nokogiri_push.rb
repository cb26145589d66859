# Push parsers: what they tell does not depend on where their text is cut, but for where texts are.
require "nokogiri/nokogiri"
E = Nokogiri::XML::SAX::Events
srand(3)
def drain(p, out)
  while (e = p.shift)
    next if e[0] == :other
    if e[0] == :text && out.last && out.last[0] == :text then out.last[1] += e[1] else out << e.map { |x| x.dup rescue x } end
  end
end
def run(html, parts)
  p = E.allocate.__open(html, "", 1, false, [])
  out = []
  parts.each { |t| p.feed(t, false); drain(p, out) }
  p.feed("", true); drain(p, out)
  out
end
TOKENS = ["<a>", "</a>", "<b c='1>2'>", "</b>", "<!-- x\n-y -->", "text\n", "é\u{1F600}", "&amp;", "&lt", "&", "<![CDATA[ ]x] ]]>", "<?pi a?>", "<", ">", "\n\n", "<d/>", "<script>a<b</script>", "<!x>", "]]>", "<e f=\"g\nh\">", "</e>", "&#65;", "--!>", "'"]
bad = 0
600.times do |i|
  html = i.odd?
  text = (html ? "" : "<?xml version=\"1.0\"?>\n <!DOCTYPE r [<!ENTITY e \"x\">]>\n <!-- c -->\n  <r>") + rand(30).times.map { TOKENS.sample }.join + (html ? "" : "</r>\n <!-- d -->\n")
  whole = run(html, [text])
  parts = []
  rest = text
  until rest.empty?
    n = [1, 2, 3, 7].sample
    parts << rest[0, n]; rest = rest[n..] || ""
  end
  cut = run(html, parts)
  next if whole == cut
  bad += 1
  p text if bad < 4
end
p bad: bad
