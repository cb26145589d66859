puts "aÿb"
x = ÿ
