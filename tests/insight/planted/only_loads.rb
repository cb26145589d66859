# Nothing but loading.
%w[json optparse erb set net/http csv psych rexml/document fileutils socket openssl].each { |name| require name rescue LoadError }
