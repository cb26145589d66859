require_relative "../support/driver"

Driver.run("simulation") { Lab.main }
