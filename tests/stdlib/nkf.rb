# NKF and Kconv: encodings in and out, kana, letters, line ends, MIME, guesses.
require "nkf"
require "kconv"

def refused
  yield
rescue => e
  e.class
end
japanese = "日本語テキスト ｱｲｳｶﾞﾊﾟ ＡＢＣ　abc あいう\n"
sources = { "W" => japanese, "E" => japanese.encode("CP51932"), "S" => japanese.encode("Windows-31J"), "J" => "\e$BF|K\\8l\e(B abc\e(I123\e(B x" }
sources.each do |input, text|
  %w[w e s j].each do |output|
    ["", "x", "Z", "Z1", "Z2", "Z3", "Z4", "h1", "h2", "h3", "m0", "Lw", "Lu"].each do |option|
      result = NKF.nkf("-#{input} -#{output} #{"-#{option}" unless option.empty?}", text)
      puts "#{input}#{output}#{option} #{result.encoding.name} #{result.b.inspect}"
    end
  end
  puts NKF.guess(text).name, NKF.nkf("-w", text)
end
puts ["", "abc", "\x82\xa0\x82\xa2", "\xa4\xa2\xa4\xa4", "\xe3\x81\x82", "\xff\xfe", "\e$B$\"\e(B"].map { |text| NKF.guess(text.b).name }.inspect
puts NKF.nkf("-w", "=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?= x"), NKF.nkf("-w", "=?UTF-8?Q?=E3=81=82?="), NKF.nkf("-w -m0", "=?UTF-8?Q?=E3=81=82?=")
puts NKF.nkf("-wM", "漢字 abc"), NKF.nkf("-Wj -MQ", "漢字").b.inspect
puts NKF.nkf("-w -r", "Hello あ"), NKF.nkf("-W -w8", "a").b.inspect, NKF.nkf("-W -w16", "aあ").b.inspect, NKF.nkf("-W -w16L", "aあ").b.inspect
puts NKF.nkf("--ic=UTF-8 --oc=Shift_JIS", "あ").b.inspect, NKF.nkf("-w --hiragana", "アイ"), NKF.nkf("-w -f4", "あいうえお")
puts NKF.nkf("-We --fb-html", "😀").b.inspect, NKF.nkf("-w --numchar-input", "&#12354;"), NKF.nkf("-Ww --url-input", "%E3%81%82")
puts "あ".tojis.b.inspect, "あ".toeuc.b.inspect, "あ".tosjis.b.inspect, "あ".toutf8, "あ".toutf16.b.inspect, "あ".kconv(Kconv::SJIS).b.inspect
p "あ".isutf8, "あ".iseuc, "あ".tosjis.issjis, "a".isjis, "あ".tojis.b.isjis, Kconv.guess("あ").name
p refused { NKF.nkf(nil, "a") }, refused { NKF.nkf("-w", nil) }, refused { NKF.nkf("", "abc") }, NKF.nkf("-w", "")
p NKF.nkf("-Ws", "①㈱～−").b, NKF.nkf("-Wj", "①㈱～−").b, NKF.nkf("-We", "①㈱～−").b
