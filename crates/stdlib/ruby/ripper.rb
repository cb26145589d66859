# ripper: prism's translation, under the name that programs know.
require "prism"

Ripper = Prism::Translation::Ripper
