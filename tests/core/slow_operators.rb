# Warning[:performance]: operators with fast paths that become other methods, once each.
require "stringio"

def warnings
  before, $stderr = $stderr, StringIO.new
  yield
  puts $stderr.string.gsub(/^.*?: (?=warning)/, "")
ensure
  $stderr = before
end

Warning[:performance] = true
warnings { class Integer; undef_method(:>>); end }
warnings { class Integer; def >>(n) = n; end }
warnings { class Float; define_method(:/) { |_| 0.5 }; end }
warnings { class Float; def /(n) = n; end }
warnings { class String; undef_method(:empty?); def empty? = false; end }
warnings { class Array; def first_of_all = first; end }
Warning[:performance] = false
warnings { class Integer; def -(n) = n; end }
p 5 >> 3, 1.0 / 4, "".empty?
