require_relative "../support/driver"

Driver.run("template_engine") { Shop.main }
