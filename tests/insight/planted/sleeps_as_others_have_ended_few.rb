# The same with few workers and jobs.
WORKERS, JOBS = 3, 60
require_relative "sleeps_as_others_have_ended"
