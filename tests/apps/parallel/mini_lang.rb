require_relative "../support/driver"

Driver.run("mini_lang") { Pip.main }
