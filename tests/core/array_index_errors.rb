# Indices before the first element, in Arrays with and without elements.
begin; [][-1]=1; rescue => e; puts e.message; end
begin; [1,2][-4]=1; rescue => e; puts e.message; end
begin; [][-2,1]=1; rescue => e; puts e.message; end
begin; [].insert(-3,1); rescue => e; puts e.message; end
