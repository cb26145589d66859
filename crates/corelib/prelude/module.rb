# Methods that Module has and its subclasses lack.
class Class
  undef_method :refine, :append_features, :prepend_features, :extend_object, :module_function
end

class Refinement
  undef_method :append_features, :prepend_features, :extend_object
end
