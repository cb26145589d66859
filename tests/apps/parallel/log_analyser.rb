require_relative "../support/driver"

Driver.run("log_analyser") { Logs.main }
# Needs the standard library.
