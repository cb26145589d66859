# Names and values of environment variables are texts of encodings that begin with ASCII.
def told
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end
wide = "a".encode("UTF-16LE")
told { ENV[wide] }
told { ENV[wide] = "b" }
told { ENV["zakuro_test"] = wide }
told { ENV["zakuro_test"] = "a\0b" }
told { ENV.fetch(wide) }
told { ENV.delete(wide) }
told { ENV.key?("a\0") }
told { ENV.assoc(wide) }
told { ENV["zakuro_test"] = "b".encode("Shift_JIS"); ENV["zakuro_test"] }
