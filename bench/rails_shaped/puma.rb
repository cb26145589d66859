# Puma's settings: BLOG_PORT, BLOG_WORKERS (0: threads alone), BLOG_TLS (a directory with server.key and server.crt: a port beside the other with TLS).
port = Integer(ENV.fetch("BLOG_PORT"))
bind "tcp://127.0.0.1:#{port}"
if (dir = ENV["BLOG_TLS"])
  bind "ssl://127.0.0.1:#{port + 1}?key=#{dir}/server.key&cert=#{dir}/server.crt&verify_mode=none"
end
threads 4, 4
environment "production"
silence_single_worker_warning
if (count = ENV["BLOG_WORKERS"].to_i) > 0
  workers count
  preload_app!
  before_fork { ActiveRecord::Base.connection_handler.clear_all_connections! }
end
