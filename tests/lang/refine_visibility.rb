# `public`, `private` of methods that a refined class inherits, within `refine`.
class Base
  private def hidden = :hidden
  def shown = :shown
end
class Derived < Base; end

module Turned
  refine Derived do
    public :hidden
    private :shown
    begin
      public :nowhere
    rescue NameError => e
      puts e.message
    end
  end
end

def told
  p yield
rescue NoMethodError => e
  puts e.message
end

told { Derived.new.hidden }
using Turned
told { Derived.new.hidden }
told { Derived.new.shown }
told { Base.new.hidden }

class Base
  private def hidden = :changed
end
told { Derived.new.hidden }
class Base
  undef_method :hidden
end
told { Derived.new.hidden }
