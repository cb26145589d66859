module Tool; module WarningFilter; end; end
