require_relative "../support/driver"

Driver.run("markdown") { Mark.main }
