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
