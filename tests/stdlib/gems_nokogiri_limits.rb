# A tree that is larger than its VM may be: NoMemoryError, and room for what rescues it.
["__parse_xml('<r>' + '<a/>' * 1_000_000 + '</r>', 1, nil, [])", "__parse_html('<p>x' * 500_000, 1)", "__parse_html5('<p>x' * 500_000, [400, 0, 400], false, nil, nil)"].each do |call|
  code = "require 'nokogiri/nokogiri'; begin; Nokogiri::XML::Document.allocate.__open(true).#{call}; p :all; rescue NoMemoryError; p :none; end"
  RubyVM.new("large", "-e", code, memory_limit: 48 << 20).start.join
end
