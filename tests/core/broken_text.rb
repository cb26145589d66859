# Broken text is found nowhere, is no pattern and no set of characters.
def told
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end

%w[UTF-8 EUC-JP Shift_JIS].each do |name|
  puts name
  broken = (name == "Shift_JIS" ? "\x81" : "\xA1").dup.force_encoding(name)
  text = ("a".b + broken.b).force_encoding(name)
  told { [text.index(broken), text.rindex(broken), text.byteindex(broken), text.include?(broken)] }
  told { text.partition(broken).map(&:bytesize) }
  told { text.rpartition(broken).map(&:bytesize) }
  told { [text[broken], text.dup.slice!(broken)] }
  told { text.delete_suffix(broken).bytesize }
  told { text.chomp(broken).bytesize }
  told { text.upcase }
  told { text.downcase }
  told { text.swapcase }
  told { text.casecmp?(broken) }
  told { "a".count(broken) }
  told { "".delete(broken) }
  told { "a".squeeze(broken) }
  told { "a".tr(broken, "x") }
  told { "a".tr("x", broken) }
  told { "a".tr_s("x", broken) }
  told { text.count("a") }
  told { text.delete("b") }
  told { text.tr("a", "b") }
end
told { "\xA1".force_encoding("US-ASCII").count("a") }
told { "\xA1".b.tr("\xA1".b, "x") }
