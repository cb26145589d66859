require_relative "../support/driver"

Driver.run("pricing_rules") { Till.main }
# Needs the standard library.
