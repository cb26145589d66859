require_relative "../support/driver"

Driver.run("text_align") { TextAlign.main }
