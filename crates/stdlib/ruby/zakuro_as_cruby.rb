# `zakuro -r zakuro/as_cruby PROGRAM`, or a `require` before all others: this VM, and those that are forked from it, says that it is CRuby. Gems take a branch for each
# engine that their authors know; concurrent-ruby's branch for the rest is one lock that is not reentrant, so that `I18n.t` raises ThreadError. What the branch for
# CRuby expects is true here: threads of a VM run one at a time. Gems that load a C extension for CRuby and Ruby code elsewhere want the extension then.
{ RUBY_ENGINE: "ruby", RUBY_ENGINE_VERSION: RUBY_VERSION }.each do |name, value|
  Object.__send__(:remove_const, name)
  Object.const_set(name, value.dup.freeze)
end
