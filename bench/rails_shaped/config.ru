require_relative "application"
Blog.initialize!
run Blog
