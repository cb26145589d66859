require_relative "../support/driver"

Driver.run("pricing_rules") { Till.main }
