# Objects of a library's classes, dumped by `_dump_data`: a new one takes what that gave by `_load_data`.
class Folder < Dir
  def _load_data(path) = initialize(path)
end
class Lost < Dir; end
class Plain; end

folder = Marshal.load("\x04\bd:\vFolderI\"\x06.\x06:\x06ET")
p folder.class, folder.path
folder.close
kept = Marshal.load("\x04\b[\aId:\vFolderI\"\x06.\x06:\x06ET\x06:\a@xi\x0aI\"\x06a\x06;\x06T")
p kept[0].instance_variables.include?(:@x), kept[0].instance_variable_get(:@x), kept[1]
twice = Marshal.load("\x04\b[\ad:\vFolderI\"\x06.\x06:\x06ET@\x06")
p twice[0].equal?(twice[1])
%W[\x04\bd:\tLostI"\x06.\x06:\x06ET \x04\bd:\nPlain0 \x04\bd:\vAbsent0].each do |text|
  Marshal.load(text)
rescue TypeError, ArgumentError => e
  puts "#{e.class}: #{e.message.tr("`", "'")}"
end
