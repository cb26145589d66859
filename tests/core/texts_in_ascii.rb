# The encodings of texts that say what a value is.
p nil.to_s.encoding, nil.inspect.encoding, true.to_s.encoding, false.to_s.encoding
p [].inspect.encoding, [nil].to_s.encoding, [1, "a"].inspect.encoding, ["a"].inspect.encoding == "a".inspect.encoding
p({}.inspect.encoding, { 1 => "b" }.to_s.encoding, { "b" => 1 }.to_s.encoding == "b".inspect.encoding)
p [nil, "é"].inspect, [nil, "é"].inspect.encoding, { 1 => "é" }.inspect.encoding, { "é": 1 }.inspect.encoding
p Encoding::UTF_8.to_s.encoding
text = +nil.inspect
text << "é"
p text, text.encoding
p nil.to_s.frozen?, true.to_s.equal?(true.to_s)
