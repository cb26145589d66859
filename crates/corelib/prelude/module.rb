# Methods that Module has and its subclasses lack.
class Class
  undef_method :refine, :append_features, :prepend_features, :extend_object, :module_function
end

class Refinement
  undef_method :append_features, :prepend_features, :extend_object
end

# Classes whose objects come from elsewhere.
[Integer, Float, Rational, Complex, Symbol, NilClass, TrueClass, FalseClass, Encoding, MatchData, Method, UnboundMethod, Binding, Process::Status,
 Thread::Backtrace::Location].each { |c| c.singleton_class.undef_method(:new) if c.respond_to?(:new) }

[Rational, Complex].each { |c| c.singleton_class.undef_method(:allocate) }

module Ruby
  # Programs ask CRuby's boxes whether they are enabled. There they are with RUBY_BOX=1, here never: RubyVM.new isolates.
  class Box < Module
    singleton_class.undef_method :allocate

    # False: there are no boxes.
    #
    #     Ruby::Box.enabled?   #=> false
    def self.enabled? = false

    # nil: the program runs in none.
    def self.current = nil

    # RuntimeError, as in CRuby while boxes are disabled.
    def initialize
      raise "Ruby Box is disabled. Zakuro has no boxes: RubyVM.new makes a VM with classes of its own."
    end
  end
end
