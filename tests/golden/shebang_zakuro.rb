#!/usr/bin/env -S zakuro -w
p $VERBOSE, __LINE__
puts DATA.read
__END__
the end
