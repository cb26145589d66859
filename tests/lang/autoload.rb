$LOAD_PATH.unshift File.join(__dir__, "fixtures")
autoload :AutoThing, "auto_thing"
p defined?(AutoThing), Object.autoload?(:AutoThing), Object.const_defined?(:AutoThing)
puts "before"
p AutoThing.hello, Object.autoload?(:AutoThing)
module Space
  autoload :Inner, "auto_inner"
  def self.get = Inner
end
p Space.constants, Space.get, Space::Inner.name
autoload :NotThere, "not_there_at_all"
begin
  NotThere
rescue LoadError => e
  p e.class
end
autoload :WrongFile, "auto_wrong"
begin
  WrongFile
rescue NameError => e
  p e.message
end
