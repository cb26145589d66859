# Broken text in sets and stripping, what tr_s does to encodings, and paths of constants that are wrong late.
def t(n); p [n, yield]; rescue Exception; p [n, $!.class, $!.message]; end
b="a\xff\xffb"
t(1){b.squeeze}
t(1.1){b.dup.squeeze!}
t(1.2){b.squeeze("a")}
t(1.3){b.squeeze("\xff")}
t(1.4){"aa".squeeze("\xff")}
t(1.5){"a\xff\xffb".b.squeeze}
t(1.6){"a\xffb".squeeze}
t(1.7){b.dup.force_encoding("US-ASCII").squeeze}
t(1.8){b.dup.force_encoding("EUC-JP").squeeze}
t(1.9){b.dup.force_encoding("Shift_JIS").squeeze}
t(1.95){"\xff".squeeze}
t(1.96){"aa".force_encoding("US-ASCII").squeeze}
u="a\xff".dup.force_encoding("US-ASCII")
t(2){u.tr_s("a-z","*")}
t(2.1){u.tr("a-z","*")}
t(2.2){u.delete("a-z")}
t(2.3){u.count("a-z")}
t(2.4){u.squeeze("a-z")}
t(2.5){b.tr_s("a-z","*")}
t(2.6){b.tr("a-z","*")}
t(2.7){b.delete("a-z")}
t(2.8){b.count("a-z")}
t(2.9){b.count("a")}
t(2.91){b.delete("a")}
t(2.92){b.tr("a","b")}
t(2.93){b.tr_s("a","b")}
t(2.94){u.tr_s("a","b")}
t(2.95){u.count("a")}
t(2.96){u.delete("a")}
t(2.97){u.tr("a","b")}
t(2.98){u.tr("^a","b")}
t(2.99){b.tr("^a","b")}
t(2.995){b.tr("\xff","b")}
t(3){"a\xff b ".rstrip}
t(3.1){"a\xff b ".dup.rstrip!}
t(3.2){"a\xff b ".strip}
t(3.3){"a\xff b ".lstrip}
t(3.4){"a\xff".rstrip}
t(3.5){" a\xff ".strip}
t(3.6){" a\xff ".dup.strip!}
t(3.7){" a\xff ".force_encoding("US-ASCII").rstrip}
t(3.8){" a\xff ".b.rstrip}
t(3.9){" a\xff ".lstrip}
t(3.91){" \xff ".lstrip}
t(3.92){"a ".encode("UTF-16LE").rstrip}
t(3.93){"".rstrip}
t(3.94){"\xff".rstrip("a") }
t(3.95){"\xe3 ".force_encoding("EUC-JP").rstrip}
t(3.96){"a\xff b ".chomp; }
t(3.97){"a\xff b ".chop; }
t(3.98){"\xff ".to_sym.inspect }
t(4){Object.const_defined?("A:::B")}
t(4.1){Object.const_get("A:::B")}
t(4.2){Object.const_defined?("String:::B")}
t(4.3){Object.const_get("String:::B")}
t(4.4){Object.const_defined?("String::::B")}
t(4.5){Object.const_defined?("A:B")}
t(4.6){Object.const_defined?(":A")}
t(4.7){Object.const_defined?("A::")}
t(4.8){Object.const_defined?("::A")}
t(4.9){Object.const_defined?("::String")}
t(4.91){Object.const_defined?("String::")}
t(4.92){Object.const_defined?("::")}
t(4.93){Object.const_defined?("")}
t(4.94){Object.const_defined?("a::B")}
t(4.95){Object.const_defined?("String::b")}
t(4.96){Object.const_defined?("A::b")}
t(4.97){Object.const_defined?("File:::Stat")}
t(4.98){Object.const_get("File:::Stat")}
t(4.99){Object.const_source_location("A:::B")}
t(4.991){Object.const_source_location("A:B")}
t(4.992){Object.const_source_location("File:::Stat")}
t(4.993){Object.const_get("::")}
t(4.994){Object.const_get("String::")}
t(4.995){Object.const_defined?("String:")}
t(5){"aaa".tr_s("z","β".b).encoding}
t(5.1){"aaa".tr("z","β".b).encoding}
t(5.2){"aaa".tr("a","β".b).encoding}
t(5.3){"aaa".tr("a","β".b)}
t(5.4){"aaa".tr_s("a","β").encoding}
t(5.5){"aaa".b.tr_s("z","β").encoding}
t(5.6){"aaa".b.tr("z","β").encoding}
t(5.7){"aaa".b.tr("a","β").encoding}
t(5.8){"aaa".b.tr("z","b").encoding}
t(5.9){"aaa".force_encoding("US-ASCII").tr("z","β").encoding}
t(5.91){"aaa".force_encoding("US-ASCII").tr_s("z","β").encoding}
t(5.92){"aaa".force_encoding("US-ASCII").delete("β").encoding}
t(5.93){x="aaa".b; x.tr!("z","β"); x.encoding}
t(5.94){x="aaa".b; x.tr_s!("z","β"); x.encoding}
t(5.95){x="aaa".b; x.tr_s!("a","β"); x.encoding}
t(5.96){"aaa".tr_s("β".b,"z").encoding}
t(5.97){"aaa".tr("β".b,"z").encoding}
t(5.98){"aaa".tr("z","").encoding}
t(5.99){"aaa".tr("β".b,"").encoding}
t(5.991){"".tr("a","β".b).encoding}
t(5.992){"".tr_s("a","β".b).encoding}
t(5.993){"β".tr("a","β".b).encoding}
t(5.994){"aaa".b.tr("","β").encoding}
