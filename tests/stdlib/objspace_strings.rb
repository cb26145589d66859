# What dumps tell of Strings: chilled ones, those that literals share, what nobody has looked through.
require "objspace"
require "digest"

dumped = ->(object) { ObjectSpace.dump(object).scan(/"(?:chilled|fstring|frozen|shareable)":true|"coderange":"\w+"/) }
p dumped["a"], dumped["a".dup], dumped["a".freeze], dumped["\u3042"], dumped["\xFF"], dumped["text".dup.force_encoding("UTF-16BE")]
p ObjectSpace.dump(ENV).include?('"shareable":true'), ObjectSpace.dump([]).include?("shareable")
%i[new allocate].each do |how|
  Digest::Base.public_send(how)
rescue NotImplementedError => e
  p e
end
p Digest::MD5.new.class
