require_relative "../support/driver"

Driver.run("text_search") { Search.main }
